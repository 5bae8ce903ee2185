/// The answer that most of a search's answers agree with.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "attn/models/search.hpp"

namespace attn::models {

/// Puts those first that are most like the others: score_i = sum_j p_j likeness(i, j), where p
/// are the answers' probabilities, flattened to P^(1/2) and made to sum to one. Answers that
/// max_length cut off stay behind finished ones, and equals stay in order.
void order_by_consensus(std::vector<Hypothesis>& answers, const SearchOptions& options);

}  // namespace attn::models
