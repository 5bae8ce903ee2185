/// Candidates in the cache: cutting and aligning the descriptions takes longer than reading.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/debian/index.hpp"
#include "attn/tasks/debian/split.hpp"

namespace attn::tasks {

struct KeptCandidates {
  std::string release;  ///< of the index they come from
  std::vector<Candidate> candidates;
};

/// Rows of id, package, source and first target behind a line with the release, and back.
std::string text_of(const KeptCandidates& kept);
KeptCandidates candidates_from(std::string_view text);

/// What the cache holds under `name`; else made by `make` from the index of `language`.
KeptCandidates kept_candidates(
    const std::string& name, const std::string& language,
    const std::function<std::vector<Candidate>(const DebianIndex&)>& make, const Say& say);

}  // namespace attn::tasks
