/// The input of every metric: a hypothesis and all its references.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <span>
#include <string>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::text {

using Hypotheses = std::span<const std::string>;
/// For each hypothesis its references, one or more.
using References = std::span<const std::vector<std::string>>;

/// Whether capitals count.
enum class LetterCase { kept, lowered };

/// Throws an InvalidArgument when the counts differ, there is nothing, or a hypothesis has no
/// reference.
void check_references(Hypotheses hypotheses, References references, const char* where);

}  // namespace attn::text
