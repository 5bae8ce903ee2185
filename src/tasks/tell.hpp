/// Saying something to whoever listens; nobody has to.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string_view>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

inline void tell(const Say& say, std::string_view what) {
  if (say) say(what);
}

}  // namespace attn::tasks
