/// The pointwise kernels of one instruction set, as the dispatcher sees them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstdint>

#include "kernels/cpu/isa_table.hpp"
#include "tensor/pointwise_functors.hpp"
#include "tensor/random_draw.hpp"

namespace attn::cpu {

using op::kDropoutBlocks;
using op::kDropoutChunk;
using pointwise::BinaryOp;
using pointwise::kBinaryOps;
using pointwise::kUnaryOps;
using pointwise::UnaryOp;

struct UnaryKernel {
  /// y = f(x) for `count` numbers in a row.
  void (*forward)(std::int64_t count, float a, float b, const float* x, float* y);
  /// dx = grad * slope(x, y).
  void (*backward)(std::int64_t count, float a, float b, const float* grad, const float* x,
                   const float* y, float* dx);
};

/// out = f(a, b) for `count` numbers in a row; steps of a and b may be anything.
using BinaryKernel = void (*)(std::int64_t count, const float* a, std::int64_t a_step,
                              const float* b, std::int64_t b_step, float* out);

struct PointwiseTable {
  std::array<UnaryKernel, kUnaryOps> unary;
  std::array<BinaryKernel, kBinaryOps> binary;
  /// The sum of a row, in an order that the number of lanes decides.
  float (*sum)(std::int64_t count, const float* x);
  float (*sum_of_squares)(std::int64_t count, const float* x);
  /// to += from.
  void (*accumulate)(std::int64_t count, const float* from, float* to);
  /// Numbers [first, first + count) of a tensor whose dropout has this key: y = keep * x, or 0
  /// where the number's word is below `bound`. `first` is a multiple of kDropoutChunk.
  void (*dropout)(std::int64_t first, std::int64_t count, std::uint64_t key,
                  std::uint32_t bound, float keep, const float* x, float* y);
};

/// The table of the best instruction set of this machine.
inline const PointwiseTable& pointwise_table() {
  return best_table<PointwiseTable>();
}

/// to += from, `count` numbers in a row.
inline void accumulate(std::int64_t count, const float* from, float* to) {
  pointwise_table().accumulate(count, from, to);
}
inline void accumulate(std::int64_t count, const double* from, double* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
}

}  // namespace attn::cpu
