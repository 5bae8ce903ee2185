// Softmax and log-softmax: sums, masks, infinities, NaN, gradients.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn {
namespace {

using test::expect_close;
using test::expect_gradients;
using test::expect_same_in_float;
using test::random_mask;
using test::random_tensor;
using test::Tensors;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor booleans(const std::vector<int>& values, const Shape& shape) {
  const Tensor result = Tensor::empty(shape, DType::boolean);
  bool* to = result.mutable_data<bool>();
  for (std::size_t i = 0; i < values.size(); ++i) to[i] = values[i] != 0;
  return result;
}

TEST(Softmax, IsTheQuotientOfExponentials) {
  const Tensor x = Tensor::from(std::vector<double>{0.0, std::log(2.0), std::log(5.0)}, {1, 3});
  const Tensor want = Tensor::from(std::vector<double>{0.125, 0.25, 0.625}, {1, 3});
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16, DType::f16}) {
    const Tensor y = softmax(x.to(dtype));
    EXPECT_EQ(y.dtype(), dtype);
    expect_close(y, want, 4 * test::tolerance(dtype, 3));
  }
}

TEST(Softmax, RowsSumToOneAlongEveryAxis) {
  const Tensor x = random_tensor("softmax", {3, 5, 17}, -4.0, 4.0, DType::f32);
  for (const int axis : {0, 1, 2, -1, -2, -3}) {
    const Tensor total = sum(softmax(x, axis), axis);
    expect_close(total, Tensor::full(total.shape(), 1.0), test::tolerance(DType::f32, 17));
  }
}

TEST(Softmax, GradientsAreThoseOfDifferences) {
  for (const Shape& shape : {Shape{2, 7}, Shape{3, 1}, Shape{2, 3, 5}, Shape{1, 33}}) {
    const auto f = [](const Tensors& in) { return Tensors{softmax(in[0])}; };
    expect_gradients(f, {random_tensor("x", shape)});
    expect_same_in_float(f, {random_tensor("x", shape)});
    const auto turned = [](const Tensors& in) { return Tensors{softmax(in[0], 0)}; };
    expect_gradients(turned, {random_tensor("x", shape)});
    expect_same_in_float(turned, {random_tensor("x", shape)});
  }
}

TEST(Softmax, MaskedGradientsAreThoseOfDifferences) {
  const Tensor x = random_tensor("x", {2, 3, 9});
  for (const Shape& shape : {Shape{2, 3, 9}, Shape{9}, Shape{2, 1, 9}, Shape{3, 1}, Shape{1}})
    for (const int axis : {-1, 1}) {
      const auto f = [&](const Tensors& in) { return Tensors{softmax(in[0], axis, in[1])}; };
      expect_gradients(f, {x, random_mask("keep", shape)});
      expect_same_in_float(f, {x, random_mask("keep", shape)});
    }
}

TEST(Softmax, OfAMaskIsTheSoftmaxOfWhatIsLeft) {
  const Tensor x = Tensor::from(std::vector<double>{1.0, 5.0, 2.0, 3.0}, {1, 4});
  const Tensor y = softmax(x, -1, booleans({1, 0, 1, 0}, {4}));
  const double first = 1.0 / (1.0 + std::exp(1.0));
  expect_close(y, Tensor::from(std::vector<double>{first, 0.0, 1.0 - first, 0.0}, {1, 4}),
               1e-15);
}

TEST(Softmax, WhatLiesBehindTheMaskReachesNothing) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    Tensor x =
        Tensor::from(std::vector<double>{1.0, kNan, 2.0, kInf, -kInf, kNan, kInf, 3.0}, {2, 4})
            .to(dtype)
            .set_requires_grad();
    const Tensor keep = booleans({1, 0, 1, 0, 0, 0, 0, 0}, {2, 4});
    const Tensor y = softmax(x, -1, keep);
    y.backward(
        Tensor::from(std::vector<double>{1.0, kNan, 3.0, kInf, kNan, kNan, kInf, kNan}, {2, 4})
            .to(dtype));
    const double w = 1.0 / (1.0 + std::exp(1.0));
    const double slope = 2.0 * w * (1.0 - w);
    const double within = test::tolerance(dtype, 4);
    expect_close(y, Tensor::from(std::vector<double>{w, 0, 1 - w, 0, 0, 0, 0, 0}, {2, 4}),
                 within);
    expect_close(x.grad(),
                 Tensor::from(std::vector<double>{-slope, 0, slope, 0, 0, 0, 0, 0}, {2, 4}),
                 within);
  }
}

TEST(Softmax, OfMinusInfinityAloneIsZero) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    Tensor x = Tensor::full({2, 19}, -kInf, dtype).set_requires_grad();
    const Tensor y = softmax(x);
    expect_close(y, Tensor::zeros({2, 19}), 0.0);
    y.backward(Tensor::full({2, 19}, 1.0, dtype));
    expect_close(x.grad(), Tensor::zeros({2, 19}), 0.0);
  }
}

TEST(Softmax, NanMakesItsOwnRowNanAndNoOther) {
  for (const DType dtype : {DType::f32, DType::f64})
    for (const double bad : {kNan, kInf})
      for (const int place : {0, 3, 16, 17, 34}) {
        std::vector<double> values(2 * 35, 0.5);
        values[static_cast<std::size_t>(place)] = bad;
        const std::vector<double> y =
            softmax(Tensor::from(values, {2, 35}).to(dtype)).to(DType::f64).to_vector<double>();
        for (std::size_t i = 0; i < 35; ++i) {
          EXPECT_TRUE(std::isnan(y[i])) << bad << " at " << place << ", number " << i;
          EXPECT_NEAR(y[35 + i], 1.0 / 35, test::kDoubleScore);
        }
      }
}

TEST(Softmax, AlsoOfANanRowLeavesMaskedPlacesZero) {
  const Tensor x = Tensor::from(std::vector<float>{NAN, 1.0f, 2.0f}, {1, 3});
  const std::vector<float> y = softmax(x, -1, booleans({1, 1, 0}, {3})).to_vector<float>();
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
  EXPECT_EQ(y[2], 0.0f);
}

TEST(Softmax, OfNothingIsNothing) {
  for (const Shape& shape : {Shape{0, 3}, Shape{3, 0}, Shape{0}}) {
    Tensor x = Tensor::zeros(shape).set_requires_grad();
    const Tensor y = softmax(x);
    EXPECT_EQ(y.shape(), shape);
    y.backward(Tensor::zeros(shape));
    EXPECT_EQ(log_softmax(x).shape(), shape);
  }
}

TEST(Softmax, RefusesWhatItCannotDo) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_THROW(softmax(x, 2), InvalidArgument);
  EXPECT_THROW(softmax(Tensor::arange(3)), InvalidArgument);
  EXPECT_THROW(softmax(x, -1, Tensor::zeros({2, 3})), InvalidArgument);
  EXPECT_THROW(softmax(x, -1, Tensor::zeros({4, 2, 3}, DType::boolean)), InvalidArgument);
  EXPECT_THROW(softmax(Tensor()), InvalidArgument);
}

TEST(LogSoftmax, IsTheLogarithmOfTheSoftmax) {
  const Tensor x = random_tensor("x", {4, 40}, -30.0, 30.0);
  const std::vector<double> y = softmax(x).to_vector<double>();
  const std::vector<double> logs = log_softmax(x).to_vector<double>();
  for (std::size_t i = 0; i < y.size(); ++i)
    EXPECT_NEAR(logs[i], std::log(y[i]), test::kDoubleSum);
}

TEST(LogSoftmax, GradientsAreThoseOfDifferences) {
  for (const int axis : {-1, 0}) {
    const auto f = [&](const Tensors& in) { return Tensors{log_softmax(in[0], axis)}; };
    expect_gradients(f, {random_tensor("x", {3, 19})});
    expect_same_in_float(f, {random_tensor("x", {3, 19}, -9.0, 9.0)});
  }
}

TEST(LogSoftmax, KeepsMinusInfinityWithoutAGradient) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    Tensor x =
        Tensor::from(std::vector<double>{0.0, -kInf, 0.0}, {3}).to(dtype).set_requires_grad();
    const Tensor y = log_softmax(x);
    expect_close(
        y, Tensor::from(std::vector<double>{-std::log(2.0), -kInf, -std::log(2.0)}, {3}), 1e-7);
    y.backward(Tensor::from(std::vector<double>{1.0, kNan, 0.0}, {3}).to(dtype));
    expect_close(x.grad(), Tensor::from(std::vector<double>{0.5, 0.0, -0.5}, {3}), 1e-7);
  }
}

}  // namespace
}  // namespace attn
