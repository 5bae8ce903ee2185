/// Products of floats as one thread computes them, for each instruction set.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>

#include "attn/gemm/gemm.hpp"
#include "attn/kernels/target.hpp"

namespace attn::cpu {

/// Element (i, j) is data[i * row + j * column]; one of the two strides is 1.
struct Strided {
  const float* data = nullptr;
  std::int64_t row = 0;
  std::int64_t column = 0;

  const float* at(std::int64_t i, std::int64_t j) const { return data + i * row + j * column; }
};

/// C = A B + beta C + bias: A [rows, depth], B [depth, columns], C [rows, columns].
struct BlockProduct {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
  Strided a;
  Strided b;
  float* c = nullptr;
  std::int64_t c_stride = 0;
  float beta = 0.0f;
  const float* bias = nullptr;  ///< [columns], or null
  /// Whether the product, of which this is a block, has at most ProductTable::few rows, or
  /// columns. Sums may then run in another order: the block alone must not decide it.
  bool few = false;
  bool thin = false;
};

struct ProductTable {
  int rows;  ///< of a block in registers; cuts lie best at multiples of these two
  int columns;
  int few;  ///< rows or columns
  /// Bytes that `product` needs as scratch.
  std::size_t (*bytes)(const BlockProduct& block);
  void (*product)(const BlockProduct& block, std::byte* scratch);
};

}  // namespace attn::cpu

namespace attn::gemm {

/// A product on the pool with the kernels of a target that is available; m, n, k and batch are
/// positive.
void product_on(Target target, const Args<float>& args, const float* bias, int threads);

}  // namespace attn::gemm
