#include "attn/tensor/ops/pointwise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn {
namespace {

using test::expect_gradients;
using test::expect_same_in_float;
using test::random_tensor;

using Unary = Tensor (*)(const Tensor&);

TEST(Pointwise, UnaryGradientsAreFiniteDifferences) {
  const std::vector<std::pair<const char*, Unary>> ops{
      {"exp", &exp},   {"tanh", &tanh},     {"sigmoid", &sigmoid}, {"relu", &relu},
      {"gelu", &gelu}, {"square", &square}, {"abs", &abs},         {"neg", &neg}};
  for (const auto& [name, f] : ops) {
    const auto call = [f = f](const std::vector<Tensor>& in) {
      return std::vector<Tensor>{f(in[0])};
    };
    SCOPED_TRACE(name);
    expect_gradients(call, {random_tensor(name, {3, 7}, -2.0, 2.0)});
    expect_same_in_float(call, {random_tensor(name, {5, 37}, -2.0, 2.0)});
  }
}

TEST(Pointwise, RootsLogarithmsAndTheOthersDifferentiateToo) {
  const auto call = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{log(in[0]), sqrt(in[0]), elu(in[0] - 1.0, 0.7),
                               clamp(in[0], 0.8, 1.5), affine(in[0], -2.0, 3.0)};
  };
  expect_gradients(call, {random_tensor("positive", {11}, 0.3, 2.0)});
  expect_same_in_float(call, {random_tensor("positive", {41}, 0.3, 2.0)});
}

TEST(Pointwise, BinaryOpsBroadcastAndSumTheirGradients) {
  const auto call = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{in[0] + in[1], in[0] - in[1],         in[0] * in[1],
                               in[0] / in[1], maximum(in[0], in[1]), minimum(in[0], in[1])};
  };
  expect_gradients(call, {random_tensor("a", {2, 1, 3}), random_tensor("b", {4, 1}, 0.5, 2)});
  expect_gradients(call, {random_tensor("a", {3}), random_tensor("b", {}, 0.5, 2.0)});
  expect_same_in_float(call,
                       {random_tensor("a", {7, 1, 9}), random_tensor("b", {5, 9}, 0.5, 2)});
}

TEST(Pointwise, StridedInputsGiveTheSameNumbers) {
  const Tensor a = random_tensor("a", {5, 6}, -1, 1, DType::f32);
  const Tensor b = random_tensor("b", {6, 5}, -1, 1, DType::f32);
  const Tensor plain = a.transpose(0, 1).contiguous() * b;
  EXPECT_EQ((a.transpose(0, 1) * b).to_vector<float>(), plain.to_vector<float>());
  EXPECT_EQ(tanh(a.transpose(0, 1)).to_vector<float>(),
            tanh(a.transpose(0, 1).contiguous()).to_vector<float>());
}

TEST(Pointwise, HalfTypesAreComputedInFloatAndRoundedOnce) {
  const Tensor x = random_tensor("x", {9}, -2, 2, DType::bf16);
  EXPECT_EQ(tanh(x).dtype(), DType::bf16);
  EXPECT_EQ(tanh(x).to(DType::f32).to_vector<float>(),
            tanh(x.to(DType::f32)).to(DType::bf16).to(DType::f32).to_vector<float>());
  EXPECT_EQ((x * x).dtype(), DType::bf16);
}

TEST(Pointwise, WhatIsNotChosenIsLostInValueAndGradient) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Tensor x = Tensor::from(std::vector<float>{1.0f, nan}, {2}).set_requires_grad();
  const Tensor keep = Tensor::from(std::vector<float>{1, 0}, {2}).to(DType::boolean);
  const Tensor y = keep_where(x, keep);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1.0f, 0.0f}));
  sum(y * y).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{2.0f, 0.0f}));
}

TEST(Pointwise, WhereBroadcastsAllThree) {
  const Tensor keep = test::random_mask("keep", {3, 1, 2});
  expect_gradients(
      [&](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{where(keep, in[0], in[1])};
      },
      {random_tensor("a", {4, 1}), random_tensor("b", {2})});
}

TEST(Pointwise, LengthMasksRefuseLengthsOutsideTheExtent) {
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{0, 2, 3}, {3});
  EXPECT_EQ(length_mask(lengths, 3).to_vector<bool>(),
            (std::vector<bool>{false, false, false, true, true, false, true, true, true}));
  EXPECT_THROW((void)length_mask(lengths, 2), InvalidArgument);
}

TEST(Pointwise, ShapesAndTypesThatDoNotFitAreRefused) {
  EXPECT_THROW((void)(Tensor::zeros({2, 3}) + Tensor::zeros({2})), InvalidArgument);
  EXPECT_THROW((void)(Tensor::zeros({2}) + Tensor::zeros({2}, DType::f64)), InvalidArgument);
  EXPECT_THROW((void)tanh(Tensor::arange(3)), InvalidArgument);
  EXPECT_THROW((void)where(Tensor::zeros({2}), Tensor::zeros({2}), Tensor::zeros({2})),
               InvalidArgument);
}

}  // namespace
}  // namespace attn
