/// Sines and cosines of the position, added to the features. Vaswani et al., 2017,
/// arXiv:1706.03762.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// Sine and cosine of one angle side by side, or all sines before all cosines.
enum class SinusoidalLayout { interleaved, halves };

struct SinusoidalOptions {
  std::int64_t offset = 0;  ///< the first position
  SinusoidalLayout layout = SinusoidalLayout::interleaved;
};

/// P(i, 2j) = sin(i / 10000^(2j / dim)), P(i, 2j + 1) = cos of the same: [positions, dim]. With
/// an odd dim there is one sine more than cosines. Angles are in double.
Tensor sinusoidal_table(std::int64_t positions, std::int64_t dim,
                        const SinusoidalOptions& options = {}, DType dtype = DType::f32);

/// x + P, x being [batch, positions, dim].
Tensor sinusoidal_encoding(const Tensor& x, const SinusoidalOptions& options = {});

}  // namespace attn::nn
