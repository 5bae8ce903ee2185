/// Merging two windows that share some seconds: the words that both heard are written once.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <vector>

#include "attn/tasks/transcribe/transcript.hpp"

namespace attn::tasks {

struct Joint {
  std::size_t before;  ///< how many words of the first window stay
  std::size_t after;   ///< how many words of the second are left out
};

/// Words of both windows with their times; the windows share `begin` to `end`, in seconds. They
/// are joined in the middle of the longest run of words that both heard alike there, capitals
/// and marks left out; where there is none, in the middle of what they share.
Joint joint_of(const std::vector<SpokenWord>& before, const std::vector<SpokenWord>& after,
               double begin, double end);

}  // namespace attn::tasks
