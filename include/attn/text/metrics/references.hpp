/// The input of every metric: a hypothesis and all its references.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "attn/core/error.hpp"

namespace attn::text {

using Hypotheses = std::span<const std::string>;
/// For each hypothesis its references, one or more.
using References = std::span<const std::vector<std::string>>;

/// Whether capitals count.
enum class LetterCase { kept, lowered };

/// Throws an InvalidArgument when the counts differ, there is nothing, or a hypothesis has no
/// reference.
inline void check_references(Hypotheses hypotheses, References references, const char* where) {
  if (hypotheses.size() != references.size())
    fail(where, ": ", hypotheses.size(), " hypotheses and references for ", references.size(),
         " lines; their counts must agree");
  if (hypotheses.empty()) fail(where, ": there is nothing to score");
  for (std::size_t i = 0; i < references.size(); ++i)
    if (references[i].empty()) fail(where, ": line ", i + 1, " has no reference");
}

}  // namespace attn::text
