/// Softmax, layer normalisation and cross-entropy on the GPU: work on the rows of packed
/// tensors.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/tensor.hpp"

namespace attn::gpu {

/// `keep` is boolean in the shape of x, with any strides, or no tensor.
void softmax(const Tensor& x, const Tensor& keep, const Tensor& out);
void softmax_backward(const Tensor& y, const Tensor& grad, const Tensor& dx);
void log_softmax(const Tensor& x, const Tensor& out);
void log_softmax_backward(const Tensor& y, const Tensor& grad, const Tensor& dx);

/// Weight and bias, which may be no tensors, and moments [rows, 2] are of the type that sums of
/// x run in. Moments gets mean and scale of each row.
void layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps,
                const Tensor& moments, const Tensor& out);
/// What is no tensor is not wanted. sums [2, columns]: the gradients of weight and bias.
void layer_norm_backward(const Tensor& x, const Tensor& weight, const Tensor& moments,
                         const Tensor& grad, const Tensor& dx, const Tensor& sums);

struct CrossEntropy {
  double smoothing;
  std::int64_t ignored;
};
/// loss, one number, and statistics [rows, 2] are of the type that sums of x run in; count, one
/// f64, gets how many targets count. A target that is no class is reported.
void cross_entropy(const Tensor& x, const Tensor& targets, const CrossEntropy& options,
                   const Tensor& statistics, const Tensor& loss, const Tensor& count);
/// grad is one number, of the type of the loss.
void cross_entropy_backward(const Tensor& x, const Tensor& targets, const Tensor& statistics,
                            const Tensor& count, const Tensor& grad,
                            const CrossEntropy& options, const Tensor& dx);

}  // namespace attn::gpu
