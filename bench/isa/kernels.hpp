/// Kernels: the loops of the bench that depend on the instruction set, one table for each.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

namespace attn::bench {

/// Element (i, j) lives at data[i * row + j * column].
struct Matrix {
  const float* data;
  std::int64_t row;
  std::int64_t column;
};

/// c (+)= alpha · a b with a [m, k], b [k, n] and c [m, n], whose rows are `c_row` apart.
struct Product {
  std::int64_t m, n, k;
  Matrix a, b;
  float* c;
  std::int64_t c_row;
  float alpha;
  bool accumulate;
};

struct Kernels {
  const char* set;
  int lanes;

  /// Independent multiply-adds in registers, `rounds` on every accumulator. Returns the FLOP.
  double (*multiply_add)(std::int64_t rounds, float* sink);

  /// Reads `size` floats.
  float (*sum)(const float* data, std::int64_t size);

  /// a = b + s · c.
  void (*triad)(float* a, const float* b, const float* c, float s, std::int64_t size);

  /// The floats that `product` needs to pack its operands.
  std::int64_t (*product_workspace)();
  void (*product)(const Product& product, float* workspace);

  /// In place: row [count] becomes its softmax.
  void (*softmax)(float* row, std::int64_t count);

  /// In place: grad [count] of the weights becomes the gradient of the scores times `scale`.
  void (*softmax_backward)(float* grad, const float* weights, float scale, std::int64_t count);
};

}  // namespace attn::bench
