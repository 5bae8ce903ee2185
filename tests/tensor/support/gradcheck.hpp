/// The law of ops and modules: the gradients of the tape are those of central differences.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn::test {

using Tensors = std::vector<Tensor>;

/// Some results of some inputs. Inputs that are not real numbers (ids, masks) are passed on and
/// not differentiated, nor are such results, nor results that are not defined.
using TensorFunction = std::function<Tensors(const Tensors&)>;

inline bool is_real(const Tensor& x) {
  return x.defined() && (x.dtype() == DType::f32 || x.dtype() == DType::f64 ||
                         x.dtype() == DType::bf16 || x.dtype() == DType::f16);
}

/// Random numbers between low and high; the same for the same name.
inline Tensor random_tensor(std::string_view name, const Shape& shape, double low = -1.0,
                            double high = 1.0, DType dtype = DType::f64) {
  Random random(name);
  const auto count = static_cast<std::size_t>(shape.numel());
  return Tensor::from(random.numbers(count, low, high), shape).to(dtype);
}

/// Random whole numbers in [low, high].
inline Tensor random_ids(std::string_view name, const Shape& shape, int low, int high) {
  Random random(name);
  std::vector<std::int64_t> values(static_cast<std::size_t>(shape.numel()));
  for (std::int64_t& value : values) value = random.whole(low, high);
  return Tensor::from(values, shape);
}

/// true with probability 1/2.
inline Tensor random_mask(std::string_view name, const Shape& shape) {
  Random random(name);
  Tensor mask = Tensor::empty(shape, DType::boolean);
  bool* values = mask.mutable_data<bool>();
  for (std::int64_t i = 0; i < shape.numel(); ++i) values[i] = random.whole(0, 1) == 1;
  return mask;
}

/// |got - want| <= within * (1 + |want|) for every number; both may be of any real type.
inline void expect_close(const Tensor& got, const Tensor& want, double within,
                         const std::string& what = "") {
  ASSERT_TRUE(got.defined()) << what << ": nothing to compare";
  ASSERT_EQ(got.shape().text(), want.shape().text()) << what;
  const std::vector<double> a = got.detach().to(DType::f64).to_vector<double>();
  const std::vector<double> b = want.detach().to(DType::f64).to_vector<double>();
  int shown = 0;
  for (std::size_t i = 0; i < a.size() && shown < 5; ++i) {
    const auto answer = close(a[i], b[i], within);
    EXPECT_TRUE(answer) << what << ", number " << i << " of " << got.text();
    shown += !answer;
  }
}

namespace gradcheck {

/// Copies that are leaves; real ones in `dtype`, and in need of a gradient if asked.
inline std::vector<Tensor> leaves(const std::vector<Tensor>& inputs, DType dtype,
                                  bool requires_grad) {
  std::vector<Tensor> result;
  for (const Tensor& x : inputs) {
    if (!x.defined()) {
      result.emplace_back();
      continue;
    }
    const NoGrad no_grad;
    Tensor copy = x.detach().clone();
    if (is_real(x)) copy = copy.to(dtype).set_requires_grad(requires_grad);
    result.push_back(copy);
  }
  return result;
}

/// A random gradient for each real result.
inline std::vector<Tensor> seeds(const std::vector<Tensor>& results, DType dtype) {
  std::vector<Tensor> result(results.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    if (is_real(results[i]))
      result[i] = random_tensor("seed " + std::to_string(i), results[i].shape())
                      .to(DType::f32)
                      .to(dtype);
  return result;
}

inline double loss(const TensorFunction& f, const std::vector<Tensor>& inputs,
                   const std::vector<Tensor>& seed) {
  const NoGrad no_grad;
  const std::vector<Tensor> results = f(inputs);
  double sum = 0.0;
  for (std::size_t r = 0; r < results.size(); ++r) {
    if (!seed[r].defined()) continue;
    const std::vector<double> values = results[r].to_vector<double>();
    const std::vector<double> factors = seed[r].to_vector<double>();
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * factors[i];
  }
  return sum;
}

struct Run {
  std::vector<Tensor> results;
  std::vector<Tensor> grads;  ///< of the inputs; not defined where none arrived
};

/// Runs f and its tape in `dtype`.
inline Run run(const TensorFunction& f, const std::vector<Tensor>& inputs, DType dtype) {
  const std::vector<Tensor> own = leaves(inputs, dtype, true);
  Run result{f(own), {}};
  const std::vector<Tensor> seed = seeds(result.results, dtype);
  std::vector<Tensor> outputs;
  std::vector<Tensor> output_seeds;
  for (std::size_t r = 0; r < seed.size(); ++r) {
    if (!seed[r].defined() || !result.results[r].requires_grad()) continue;
    outputs.push_back(result.results[r]);
    output_seeds.push_back(seed[r]);
  }
  backward(outputs, output_seeds);
  for (const Tensor& x : own) result.grads.push_back(x.defined() ? x.grad() : Tensor());
  return result;
}

}  // namespace gradcheck

/// The tape's gradients of sum(results * random seeds) are central differences in double. An
/// input that no gradient reaches counts as one of zeros.
inline void expect_gradients(const TensorFunction& f, const std::vector<Tensor>& inputs,
                             double tolerance = 1e-6) {
  const gradcheck::Run tape = gradcheck::run(f, inputs, DType::f64);
  const std::vector<Tensor> seed = gradcheck::seeds(tape.results, DType::f64);
  const std::vector<Tensor> moved = gradcheck::leaves(inputs, DType::f64, false);
  for (std::size_t t = 0; t < moved.size(); ++t) {
    if (!is_real(moved[t])) continue;
    Tensor want = Tensor::zeros(moved[t].shape(), DType::f64);
    for (std::int64_t i = 0; i < want.numel(); ++i) {
      const double kept = moved[t].data<double>()[i];
      moved[t].mutable_data<double>()[i] = kept + kDifferenceStep;
      const double above = gradcheck::loss(f, moved, seed);
      moved[t].mutable_data<double>()[i] = kept - kDifferenceStep;
      const double below = gradcheck::loss(f, moved, seed);
      moved[t].mutable_data<double>()[i] = kept;
      want.mutable_data<double>()[i] = (above - below) / (2 * kDifferenceStep);
    }
    const Tensor got =
        tape.grads[t].defined() ? tape.grads[t] : Tensor::zeros(want.shape(), DType::f64);
    EXPECT_EQ(got.dtype(), DType::f64) << "gradient of input " << t;
    expect_close(got, want, tolerance, "gradient of input " + std::to_string(t));
  }
}

/// Results and gradients in float are those in double, for inputs that float can hold.
inline void expect_same_in_float(const TensorFunction& f, const std::vector<Tensor>& inputs,
                                 double tolerance = 1e-5) {
  const std::vector<Tensor> exact = gradcheck::leaves(inputs, DType::f32, false);
  const gradcheck::Run got = gradcheck::run(f, exact, DType::f32);
  const gradcheck::Run want = gradcheck::run(f, exact, DType::f64);
  ASSERT_EQ(got.results.size(), want.results.size());
  for (std::size_t r = 0; r < want.results.size(); ++r) {
    if (!want.results[r].defined()) continue;
    const std::string what = "result " + std::to_string(r);
    if (is_real(want.results[r])) {
      EXPECT_EQ(got.results[r].dtype(), DType::f32) << what;
    }
    expect_close(got.results[r], want.results[r], tolerance, what);
  }
  for (std::size_t t = 0; t < want.grads.size(); ++t) {
    ASSERT_EQ(got.grads[t].defined(), want.grads[t].defined()) << "gradient of input " << t;
    if (!want.grads[t].defined()) continue;
    EXPECT_EQ(got.grads[t].dtype(), DType::f32) << "gradient of input " << t;
    expect_close(got.grads[t], want.grads[t], tolerance,
                 "gradient of input " + std::to_string(t));
  }
}

}  // namespace attn::test
