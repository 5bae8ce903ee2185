/// Losses.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/tensor.hpp"

namespace attn {

struct CrossEntropyOptions {
  double smoothing = 0.0;          ///< spread over all classes; Szegedy et al., 2016
  std::int64_t ignore_index = -1;  ///< targets of this value count for nothing
};

/// The mean over the counted targets of -log softmax(logits)[target]: logits [..., classes],
/// targets i64 [...]. 0 when nothing counts. No probabilities are stored beside the gradient.
/// The loss of 16-bit logits is f32: three digits would not tell one step from the next.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets,
                     const CrossEntropyOptions& options = {});

/// mean((a - b)^2).
Tensor mean_squared_error(const Tensor& a, const Tensor& b);

}  // namespace attn
