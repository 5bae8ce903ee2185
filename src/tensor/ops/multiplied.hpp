/// Products of tensors, off the tape.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/gemm/gemm.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::op {

/// What becomes of a product; on the CPU a bias alone.
struct Finish {
  Tensor bias = {};   ///< [n], added to each row
  Tensor added = {};  ///< packed, of the shape of the product
  bool relu = false;  ///< with a bias
};
/// x y, [..., m, k] times [..., k, n], on either device: f32 and f64, on the GPU 16-bit types
/// too.
Tensor multiplied(const Tensor& x, const Tensor& y, const Finish& finish = {});

/// c [rows, n] = a [rows, k] times `weight`, or its transpose, plus beta c; on the GPU, packed
/// but for the rows of the weight. T = float or double.
template <class T>
void multiply_on_gpu(std::int64_t rows, const T* a, const Tensor& weight,
                     gemm::Transpose transpose, T* c, T beta = T(0));

}  // namespace attn::op
