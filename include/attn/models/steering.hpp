/// Steering: forbids or forces source positions while a trained model decodes.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models {

/// Steering{} changes nothing. Positions are those of source tokens, steps those of target
/// tokens, both counted from 0; they mean the same to every source of a batch.
struct Steering {
  struct Force {
    std::int64_t step;
    std::int64_t position;
  };

  double temperature = 1.0;            ///< scores over the source are divided by it
  std::vector<std::int64_t> forbid{};  ///< positions that no step attends to
  std::vector<Force> force{};  ///< the step attends to this position alone, forbidden or not

  bool as_trained() const { return temperature == 1.0 && forbid.empty() && force.empty(); }

  /// InvalidArgument for a temperature that is not above 0, and for a step or a position that a
  /// source of `extent` tokens does not have.
  void validate(std::int64_t extent) const;

  /// The positions that steps first, first + 1, ... may attend to: boolean [steps, extent].
  /// Several positions forced at one step are all open.
  Tensor open(std::int64_t first, std::int64_t steps, std::int64_t extent) const;
  /// The same as attention takes it, over what was read, [batch, source, ...].
  nn::AttentionContext context(std::int64_t first, std::int64_t steps,
                               const Tensor& source) const;
};

}  // namespace attn::models
