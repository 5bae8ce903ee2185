/// Checking a mechanism's gradients: the tape against finite differences, both in double.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <vector>

#include "attn/nn/registry.hpp"
#include "attn/tensor/storage.hpp"

namespace attn::nn {

struct GradientCheckOptions {
  std::uint64_t seed = 1;
  double step = 1e-5;           ///< of the central differences
  double tolerance = 1e-6;      ///< relative to 1 + |expected|
  Device device = Device::cpu;  ///< of the mechanism; the same example on each
};

/// One input or parameter.
struct GradientCheck {
  std::string name;  ///< "in.queries", "param.W_q.weight"
  std::int64_t numbers = 0;
  double worst = 0.0;  ///< |tape - difference| / (1 + |difference|), the largest
  bool passed = false;
};

/// Runs the mechanism's example with random gradients arriving at its differentiable outputs.
/// Empty only for a mechanism that says why (Mechanism::no_gradient): where nothing could be
/// compared without such a reason, or something could be in spite of it, that is an Error. So
/// is an output with a gradient that was computed on another device.
std::vector<GradientCheck> check_gradients(const Mechanism& mechanism,
                                           const GradientCheckOptions& options = {});

}  // namespace attn::nn
