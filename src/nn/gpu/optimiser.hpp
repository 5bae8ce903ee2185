/// Steps of optimisers on the GPU, over many tensors with one launch. Packed tensors; all of a
/// call have the types of the first.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "attn/tensor/tensor.hpp"
#include "nn/updates.hpp"

namespace attn::gpu {

/// A parameter in f32 or f64, its gradient, and what the optimiser keeps: Adam's mean and
/// square, or SGD's velocity (none without momentum). Where the parameter is a master, its
/// gradient is 16 bits wide, and so is `rounded`, which gets it rounded.
struct Updated {
  Tensor parameter;
  Tensor grad;
  Tensor first;
  Tensor second;
  Tensor rounded = {};
};

void adam(const nn::AdamStep& step, const std::vector<Updated>& all);
void sgd(const nn::SgdStep& step, const std::vector<Updated>& all);

/// parameter += share (grad - parameter): a moving average of something else.
void approach(double share, const std::vector<Updated>& all);

/// The sum of the squares of all numbers. Waits.
double sum_of_squares(const std::vector<Tensor>& all);
/// In place.
void scale(double factor, const std::vector<Tensor>& all);

}  // namespace attn::gpu
