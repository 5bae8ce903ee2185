/// Convolutions as products with what the kernel sees (src/gemm/cpu). The batch is cut by shape
/// alone, so the number of threads changes no bit.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstdint>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::gemm {

/// y[b, o, i] = bias[o] + sum over c, k of weight[o, c, k] x[b, c, i * stride - pad_before +
/// k * dilation], with zeros around x. Two axes; a sequence is a grid of height 1.
struct ConvShape {
  std::int64_t batch = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::array<std::int64_t, 2> size{1, 1};
  std::array<std::int64_t, 2> kernel{1, 1};
  std::array<std::int64_t, 2> stride{1, 1};
  std::array<std::int64_t, 2> pad_before{0, 0};
  std::array<std::int64_t, 2> pad_after{0, 0};
  std::array<std::int64_t, 2> dilation{1, 1};

  /// Extents of y; 0 where the kernel does not fit.
  std::array<std::int64_t, 2> out_size() const;
};

// T = float: the kernels of this machine. T = double: plain loops, for checks. All arrays are
// packed and row-major: x [batch, in, height, width], weight [out, in, height, width], y
// [batch, out, height, width].

/// `bias` may be null.
template <class T>
void conv_forward(const ConvShape& shape, const T* x, const T* weight, const T* bias, T* y);

/// dx from the gradient of y.
template <class T>
void conv_backward_data(const ConvShape& shape, const T* grad, const T* weight, T* dx);

/// The gradients of weight and bias; `d_bias` may be null.
template <class T>
void conv_backward_weights(const ConvShape& shape, const T* x, const T* grad, T* d_weight,
                           T* d_bias);

}  // namespace attn::gemm
