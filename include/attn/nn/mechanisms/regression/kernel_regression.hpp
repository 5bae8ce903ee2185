/// A curve from scattered points: Nadaraya-Watson regression whose width is given, or learnt by
/// leaving each point out in turn.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

struct KernelRegressionOptions {
  double width = 1.0;  ///< w; larger is narrower, as the kernel is exp(-(x w)^2 / 2)
};

/// f(x) = sum_j softmax_j(-1/2 |(x - x_j) w|^2) y_j over the points of fit() or keep().
///
///     KernelRegression curve({.width = 2.0});
///     const auto history = curve.fit(x, y, {.rate = 0.02, .epochs = 100});
///     const Attended at = curve.predict(where, Want::output | Want::weights);
class KernelRegression : public Module {
 public:
  explicit KernelRegression(const KernelRegressionOptions& options = {});

  /// Takes points and leaves the width alone. x [points] or [points, dim], y [points], of one
  /// dtype, f32 or f64, to which the width is converted.
  void keep(const Tensor& x, const Tensor& y);

  struct Training {
    double rate = 0.02;
    std::int64_t epochs = 100;
  };
  struct Epoch {
    double loss;   ///< before the step
    double width;  ///< after it
  };
  /// Takes points and learns the width by gradient descent on the leave-one-out loss
  /// sum_i (f_{-i}(x_i) - y_i)^2, in which query i sees all points but its own.
  std::vector<Epoch> fit(const Tensor& x, const Tensor& y, const Training& training);

  /// The leave-one-out loss of the points, one number, differentiable in the width.
  Tensor loss() const;

  /// x [queries] or [queries, dim] -> output [queries], weights [queries, points] on demand.
  Attended predict(const Tensor& x, const Want& want = Want::output) const;

  double width() const { return w_.item(); }

 private:
  Attended look(const Tensor& queries, const Mask& keep, const Want& want) const;

  Tensor w_;  ///< "w" [1]
  Tensor x_;  ///< [1, points, dim]
  Tensor y_;  ///< [1, points, 1]
};

}  // namespace attn::nn
