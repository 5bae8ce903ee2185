/// What the kernel of a convolution sees, as rows of a matrix, and back, for each instruction
/// set.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstdint>

#include "attn/gemm/conv.hpp"
#include "attn/kernels/target.hpp"

namespace attn::cpu {

/// One image with the zeros around it. Columns that a stride apart are side by side: a row is
/// `stride` stretches of `width`, the first with columns 0, stride, 2 stride, ... So what one
/// number of the kernel sees along a row of y lies in one piece, whatever the stride is.
/// [channel, row, column % stride, column / stride]
struct PaddedImage {
  explicit PaddedImage(const gemm::ConvShape& from) : shape(from), y_size(from.out_size()) {
    rows = (y_size[0] - 1) * shape.stride[0] + (shape.kernel[0] - 1) * shape.dilation[0] + 1;
    width = y_size[1] + (shape.kernel[1] - 1) * shape.dilation[1] / shape.stride[1];
    row = shape.stride[1] * width;
  }

  /// Numbers it takes; whole vectors are read and written at the end of the last row.
  std::int64_t size() const {
    constexpr std::int64_t kSlack = 16;
    return shape.in * rows * row + kSlack;
  }
  /// Rows of what is seen: numbers of the kernel, channel by channel.
  std::int64_t depth() const { return shape.in * taps(); }
  std::int64_t taps() const { return shape.kernel[0] * shape.kernel[1]; }
  std::int64_t positions() const { return y_size[0] * y_size[1]; }

  gemm::ConvShape shape;
  std::array<std::int64_t, 2> y_size;
  std::int64_t rows;
  std::int64_t width;
  std::int64_t row;
};

/// Some places of y: whole rows, or a piece of one.
struct Places {
  std::int64_t row = 0;
  std::int64_t rows = 0;
  std::int64_t column = 0;
  std::int64_t columns = 0;

  std::int64_t count() const { return rows * columns; }
};

struct UnfoldTable {
  /// Fills an image from x, [in, height, width]; the zeros around it are there already.
  void (*pad)(const PaddedImage& image, const float* x, float* padded);
  /// seen[r * stride + i]: what number r of the kernel sees at place i.
  void (*unfold)(const PaddedImage& image, const float* padded, const Places& at, float* seen,
                 std::int64_t stride);
  /// Adds rows [first, last), which are whole channels, to where they were seen; `seen` begins
  /// with the first.
  void (*fold)(const PaddedImage& image, const float* seen, std::int64_t stride,
               std::int64_t first, std::int64_t last, const Places& at, float* padded);
  /// The image without the zeros around it.
  void (*unpad)(const PaddedImage& image, const float* padded, float* x);
};

}  // namespace attn::cpu

namespace attn::gemm {

// Convolutions of floats on the pool with the kernels of a target that is available; every
// extent is positive.
void conv_forward_on(Target target, const ConvShape& shape, const float* x, const float* weight,
                     const float* bias, float* y);
void conv_backward_data_on(Target target, const ConvShape& shape, const float* grad,
                           const float* weight, float* dx);
void conv_backward_weights_on(Target target, const ConvShape& shape, const float* x,
                              const float* grad, float* d_weight, float* d_bias);

}  // namespace attn::gemm
