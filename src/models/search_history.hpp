/// What a search has read so far: tokens, parents and weights of each step, once.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "attn/models/search.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models {

/// Hypotheses are paths back through the steps, so nothing of them is copied while they grow.
class History {
 public:
  /// A step reads one token a row, whose row in the step before was `parents`.
  void begin_step(std::vector<std::int64_t> tokens, std::vector<std::int64_t> parents);
  /// Where it looked, [rows, source]; none without attention.
  void end_step(const Tensor& weights);

  /// What the hypothesis has said that ends in a row of the newest step.
  std::vector<std::int64_t> tokens(std::int64_t row) const;
  /// That hypothesis with its weights.
  Hypothesis trace(std::int64_t row) const;

 private:
  struct Step {
    std::vector<std::int64_t> tokens;
    std::vector<std::int64_t> parents;
    Tensor weights;
  };
  std::vector<Step> steps_;
};

}  // namespace attn::models
