/// Attention written out with plain ops in double: what attend() must agree with.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn::test {

/// The sizes of the tests: odd, and different from each other.
struct Small {
  std::int64_t batch = 2;
  std::int64_t heads = 2;
  std::int64_t queries = 3;
  std::int64_t keys = 5;
  std::int64_t channels = 4;
  std::int64_t value_channels = 3;

  Shape pairs() const { return {batch, heads, queries, keys}; }
  /// {q, k, v}.
  std::vector<Tensor> inputs() const {
    return {random_tensor("q", {batch, heads, queries, channels}),
            random_tensor("k", {batch, heads, keys, channels}),
            random_tensor("v", {batch, heads, keys, value_channels})};
  }
};

/// f(b, h, i, j) for every pair.
inline Tensor number_pairs(
    const Small& size,
    const std::function<double(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& f) {
  std::vector<double> numbers;
  for (std::int64_t b = 0; b < size.batch; ++b)
    for (std::int64_t h = 0; h < size.heads; ++h)
      for (std::int64_t i = 0; i < size.queries; ++i)
        for (std::int64_t j = 0; j < size.keys; ++j) numbers.push_back(f(b, h, i, j));
  return Tensor::from(numbers, size.pairs());
}
inline Tensor flag_pairs(
    const Small& size,
    const std::function<bool(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& f) {
  const Tensor flags = Tensor::empty(size.pairs(), DType::boolean);
  bool* to = flags.mutable_data<bool>();
  for (std::int64_t b = 0; b < size.batch; ++b)
    for (std::int64_t h = 0; h < size.heads; ++h)
      for (std::int64_t i = 0; i < size.queries; ++i)
        for (std::int64_t j = 0; j < size.keys; ++j) *to++ = f(b, h, i, j);
  return flags;
}

/// q . k for every pair.
inline Tensor dot_products(const Tensor& q, const Tensor& k) {
  return matmul(q, k.transpose(-2, -1));
}

/// What the functors round to float: scales, caps, widths.
inline constexpr double kFloatConstants = 1e-7;

/// attend() with these specs gives `weights` and pools v by them, its gradients are central
/// differences, and float does as double does. `inputs` holds q, k, v and what `make` takes
/// tensors from.
struct AttendCase {
  std::function<spec::Score(const std::vector<Tensor>&)> score =
      [](const std::vector<Tensor>&) { return spec::scaled_dot(); };
  spec::Mask keep{};
  std::function<spec::Normaliser(const std::vector<Tensor>&)> normaliser =
      [](const std::vector<Tensor>&) { return spec::softmax(); };
};

inline void expect_attends(const AttendCase& what, const std::vector<Tensor>& inputs,
                           const Tensor& weights) {
  const bool given = what.score(inputs).given.defined();
  const auto run = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const Attended got =
        attend(given ? Tensor() : in[0], given ? Tensor() : in[1], in[2], what.score(in),
               what.keep, what.normaliser(in), Want::output | Want::weights);
    return {got.output, got.weights};
  };
  const std::vector<Tensor> got = run(inputs);
  expect_close(got[1], weights, kFloatConstants, "weights");
  expect_close(got[0], matmul(weights, inputs[2]), kFloatConstants, "output");
  expect_gradients(run, inputs);
  expect_same_in_float(run, inputs, 2e-5);
}

}  // namespace attn::test
