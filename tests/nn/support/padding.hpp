/// The law of lengths: what stands past a length changes nothing, NaN or not, in results and
/// gradients.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::test {

/// An input [batch, ..., positions, ...] and the lengths of its positions, which are along
/// `axis`; lengths have the axes before it.
struct Padded {
  std::string input;
  std::string lengths;
  int axis = 1;
};

namespace padding_law {

/// The case in `dtype`, its padding filled with `value`; real inputs want gradients.
inline nn::MechanismCall filled(const nn::MechanismCall& original,
                                const std::vector<Padded>& padded, double value, DType dtype) {
  nn::MechanismCall call = original;
  for (auto& [name, tensor] : call.inputs)
    if (tensor.dtype() == DType::f64) tensor = tensor.clone();
  for (const Padded& entry : padded) {
    Tensor& tensor = call.inputs.at(entry.input);
    const Tensor flags = length_mask(call.inputs.at(entry.lengths), tensor.size(entry.axis));
    const std::int64_t inner = tensor.numel() / flags.numel();
    const bool* keep = flags.data<bool>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
      if (keep[i / inner]) continue;
      if (tensor.dtype() == DType::i64)
        tensor.mutable_data<std::int64_t>()[i] = -7;
      else
        tensor.mutable_data<double>()[i] = value;
    }
  }
  for (auto& [name, tensor] : call.inputs)
    if (tensor.dtype() == DType::f64) tensor = tensor.to(dtype).clone().set_requires_grad();
  for (auto& [name, tensor] : call.parameters) tensor = tensor.to(dtype);
  return call;
}

/// Results, then the gradients of their sum.
inline std::vector<Tensor> results(const nn::Mechanism& mechanism,
                                   const nn::MechanismCall& call) {
  const nn::MechanismResult result = mechanism.run(call);
  std::vector<Tensor> all;
  std::vector<Tensor> outputs;
  std::vector<Tensor> seeds;
  for (const auto& [name, output] : result.outputs) {
    all.push_back(output.detach());
    if (!output.requires_grad()) continue;
    attn::Random random(all.size());
    outputs.push_back(output);
    seeds.push_back(normal(output.shape(), 0.0, 1.0, random, output.dtype()));
  }
  backward(outputs, seeds);
  for (const auto& [name, input] : call.inputs)
    if (input.requires_grad()) all.push_back(input.grad());
  for (const auto& [name, parameter] : result.parameters) all.push_back(parameter.grad());
  return all;
}

}  // namespace padding_law

/// Runs the example of a mechanism, with these options besides its own, in both precisions.
inline void expect_padding_ignored(const std::string& name, const std::vector<Padded>& padded,
                                   const nn::Options& options = {}) {
  const nn::Mechanism* mechanism = nn::find_mechanism(name);
  ASSERT_NE(mechanism, nullptr) << name;
  attn::Random random(3);
  nn::MechanismCall call = mechanism->example(random);
  for (const auto& [option, value] : options.values()) call.options.set(option, value);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto run = [&](double value) {
      return padding_law::results(*mechanism, padding_law::filled(call, padded, value, dtype));
    };
    const std::vector<Tensor> want = run(0.25);
    const std::vector<Tensor> got = run(std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < want.size(); ++i) {
      ASSERT_EQ(want[i].defined(), got[i].defined()) << name << ", result " << i;
      if (!want[i].defined() || want[i].dtype() != dtype) continue;
      EXPECT_EQ(want[i].to(DType::f64).to_vector<double>(),
                got[i].to(DType::f64).to_vector<double>())
          << name << " in " << name_of(dtype) << ", result " << i;
    }
  }
}

}  // namespace attn::test
