/// Rotary position embedding on tensors; the gradient is the inverse turn. Su et al., 2021,
/// arXiv:2104.09864.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/kernels/rotary.hpp"  // IWYU pragma: export
#include "attn/tensor/tensor.hpp"

namespace attn {

struct RotaryOptions {
  double base = 10000.0;
  std::int64_t rotary_dim = -1;  ///< channels that turn, even; -1: all
  RotaryPairs pairs = RotaryPairs::halves;
};

/// The turns of some positions, to be used for every layer: pair i turns by
/// position * base^(-2 i / rotary_dim).
struct RotaryTable {
  Tensor cos;  ///< [1 or batch, positions, rotary_dim / 2], f32, or f64 for f64
  Tensor sin;
  RotaryPairs pairs = RotaryPairs::halves;
};
/// Positions i64 [positions] or [batch, positions]. `rotary_dim` must be given here.
RotaryTable rotary_table(const Tensor& positions, const RotaryOptions& options,
                         DType dtype = DType::f32);

/// x [batch, heads, positions, channels] or [batch, positions, channels].
Tensor rotary(const Tensor& x, const RotaryTable& table);
/// The same for given positions, and for positions offset, offset + 1, ...
Tensor rotary(const Tensor& x, const Tensor& positions, const RotaryOptions& options = {});
Tensor rotary(const Tensor& x, std::int64_t offset = 0, const RotaryOptions& options = {});

}  // namespace attn
