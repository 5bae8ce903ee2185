/// The law of ops on the GPU: the same function of the same tensors gives the same results and
/// gradients as on the CPU.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"
#include "tensor/support/gradcheck.hpp"

#define SKIP_WITHOUT_GPU() \
  if (!attn::gpu::available()) GTEST_SKIP() << "no GPU: " << attn::gpu::describe()

namespace attn::test {

/// Copies on a device that are leaves, the real ones in need of a gradient.
inline Tensors leaves_on(const Tensors& inputs, Device device) {
  Tensors result;
  for (const Tensor& x : inputs) {
    Tensor copy = x.defined() ? x.detach().clone().to(device) : x;
    if (is_real(x)) copy.set_requires_grad();
    result.push_back(copy);
  }
  return result;
}

struct Ran {
  Tensors results;
  Tensors inputs;
};

/// Runs f and the gradients of its results under random seeds.
inline Ran run_on(const Tensors& inputs, const TensorFunction& f, Device device) {
  Ran ran{{}, leaves_on(inputs, device)};
  ran.results = f(ran.inputs);
  Tensors outputs;
  Tensors seeds;
  for (const Tensor& result : ran.results) {
    EXPECT_EQ(result.device(), device);
    if (!is_real(result) || !result.requires_grad()) continue;
    outputs.push_back(result);
    seeds.push_back(random_tensor("seed " + std::to_string(seeds.size()), result.shape())
                        .to(result.dtype())
                        .to(device));
  }
  if (!outputs.empty()) backward(outputs, seeds);
  return ran;
}

/// `within` bounds the difference of a number, relative to 1 + its size.
inline void expect_same_on_gpu(const std::string& what, const Tensors& inputs,
                               const TensorFunction& f, double within) {
  const Ran want = run_on(inputs, f, Device::cpu);
  const Ran got = run_on(inputs, f, Device::gpu);
  ASSERT_EQ(got.results.size(), want.results.size()) << what;
  for (std::size_t i = 0; i < want.results.size(); ++i)
    expect_close(got.results[i], want.results[i], within,
                 what + ", result " + std::to_string(i));
  for (std::size_t i = 0; i < want.inputs.size(); ++i) {
    if (!is_real(want.inputs[i])) continue;
    const Tensor wanted = want.inputs[i].grad();
    ASSERT_EQ(got.inputs[i].grad().defined(), wanted.defined()) << what << ", input " << i;
    if (wanted.defined())
      expect_close(got.inputs[i].grad(), wanted, within,
                   what + ", gradient of input " + std::to_string(i));
  }
}

/// For results of some roundings and sums of up to `length` terms; a 16-bit type is rounded at
/// every op, where the CPU may go on in float.
inline double gpu_tolerance(DType dtype, int length = 1) {
  return 4 * gradient_tolerance(dtype, length, 1);
}

inline std::string named(const std::string& what, DType dtype) {
  return what + " in " + std::string(name_of(dtype));
}

/// Losses of steps, to 1e-3; the largest difference is noted in the report under `name`.
inline void expect_losses_near(const std::vector<double>& got, const std::vector<double>& want,
                               const std::string& name) {
  ASSERT_EQ(got.size(), want.size());
  double most = 0.0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(got[i], want[i], test::kFloatTraining) << name << ", step " << i;
    most = std::max(most, std::fabs(got[i] - want[i]));
  }
  std::ostringstream text;
  text << most;
  testing::Test::RecordProperty("difference_of_" + name, text.str());
}

}  // namespace attn::test
