/// Softmax without attention, layer and batch normalisation.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"

namespace attn {

/// Along an axis, the maximum subtracted. Only positions where `keep` (boolean, broadcast)
/// holds count; the others are 0, and so is a row without any.
Tensor softmax(const Tensor& x, int axis = -1, const Tensor& keep = {});
Tensor log_softmax(const Tensor& x, int axis = -1);

/// (x - mean) / sqrt(variance + eps) * weight + bias over the last axis; the variance is the
/// biased one. Ba, Kiros and Hinton, 2016, arXiv:1607.06450.
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps = 1e-5);

/// Numbers that batch normalisation keeps between steps; written while training.
struct RunningStatistics {
  Tensor mean;      ///< [channels]
  Tensor variance;  ///< [channels], unbiased
};
enum class Phase { train, eval };

/// Over all axes but the second: x [batch, channels, ...]. Ioffe and Szegedy, 2015,
/// arXiv:1502.03167.
Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                  const RunningStatistics& running, Phase phase, double momentum = 0.1,
                  double eps = 1e-5);

}  // namespace attn
