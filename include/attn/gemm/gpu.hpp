/// Matrix products on the GPU by cuBLASLt. Compiles without CUDA.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/gemm/gemm.hpp"

struct CUstream_st;

namespace attn::gemm {

/// Of float: products of floats, or of their first 10 bits (TF32), several times as fast. Large
/// products of floats are three of TF32 whose sum is as good as one.
enum class Products { full, tf32 };

/// What becomes of a product before it is stored.
template <class T>
struct Finish {
  const T* bias = nullptr;   ///< [n], added to every row
  const T* added = nullptr;  ///< in the place of beta C: numbers that lie as C does
  bool relu = false;         ///< of the sum; it needs a bias
};

/// C = A B + beta C, finished as `finish` says; queued on `stream`, not waited for. T is float,
/// double, BFloat16 or Float16 (sums run in float).
/// All data lie in the GPU's memory. k = 0 throws. Throws Unsupported without CUDA.
template <class T>
void product_on_gpu(const Args<T>& args, const Finish<T>& finish, CUstream_st* stream,
                    Products products = Products::full);

}  // namespace attn::gemm
