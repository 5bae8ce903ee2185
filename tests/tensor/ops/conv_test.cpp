#include "attn/tensor/ops/conv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn {
namespace {

using test::expect_close;
using test::expect_gradients;
using test::expect_same_in_float;
using test::random_tensor;
using test::Tensors;

TEST(Conv1d, SlidesTheKernelWithoutFlippingIt) {
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3, 4}, {1, 1, 4});
  const Tensor weight = Tensor::from(std::vector<float>{1, 10}, {1, 1, 2});
  EXPECT_EQ(conv1d(x, weight).to_vector<float>(), (std::vector<float>{21, 32, 43}));
  const Tensor bias = Tensor::from(std::vector<float>{0.5f}, {1});
  EXPECT_EQ(conv1d(x, weight, bias, {.stride = 2}).to_vector<float>(),
            (std::vector<float>{21.5f, 43.5f}));
  EXPECT_EQ(conv1d(x, weight, {}, {.dilation = 3}).to_vector<float>(),
            (std::vector<float>{41}));
}

TEST(Conv1d, WithPadsBeforeIsCausal) {
  const std::int64_t kernel = 3;
  const Tensor x = random_tensor("x", {2, 4, 9}, -1.0, 1.0, DType::f32);
  const Tensor weight = random_tensor("weight", {5, 4, kernel}, -1.0, 1.0, DType::f32);
  const Conv1dOptions causal{.pad_before = kernel - 1};
  const Tensor whole = conv1d(x, weight, {}, causal);
  EXPECT_EQ(whole.shape(), (Shape{2, 5, 9}));
  for (const std::int64_t length : {1, 4, 8})
    expect_close(conv1d(x.slice(2, 0, length), weight, {}, causal), whole.slice(2, 0, length),
                 test::tolerance(DType::f32, 12));
}

TEST(Conv1d, OfKernelOneIsALinearMap) {
  const Tensor x = random_tensor("x", {3, 6, 11}, -1.0, 1.0, DType::f32);
  const Tensor weight = random_tensor("weight", {4, 6, 1}, -1.0, 1.0, DType::f32);
  const Tensor bias = random_tensor("bias", {4}, -1.0, 1.0, DType::f32);
  expect_close(conv1d(x, weight, bias),
               linear(x.transpose(1, 2), weight.squeeze(2), bias).transpose(1, 2),
               test::tolerance(DType::f32, 6));
}

TEST(Conv1d, GradientsAreThoseOfDifferences) {
  for (const Conv1dOptions& options :
       {Conv1dOptions{}, Conv1dOptions{.stride = 2, .pad_before = 1},
        Conv1dOptions{.pad_before = 4, .pad_after = 1, .dilation = 2}}) {
    const auto f = [&](const Tensors& in) {
      return Tensors{conv1d(in[0], in[1], in[2], options)};
    };
    const Tensors inputs{random_tensor("x", {2, 3, 7}), random_tensor("weight", {4, 3, 3}),
                         random_tensor("bias", {4})};
    expect_gradients(f, inputs);
    expect_same_in_float(f, inputs);
    expect_gradients(f, {inputs[0], inputs[1], {}});
  }
}

TEST(Conv1d, OfNothingIsNothing) {
  const Tensor weight = Tensor::zeros({4, 3, 2});
  EXPECT_EQ(conv1d(Tensor::zeros({0, 3, 5}), weight).shape(), (Shape{0, 4, 4}));
  Tensor x = Tensor::zeros({2, 3, 0}).set_requires_grad();
  const Tensor y = conv1d(x, weight, {}, {.pad_before = 1});
  EXPECT_EQ(y.shape(), (Shape{2, 4, 0}));
  y.backward(Tensor::zeros({2, 4, 0}));
  EXPECT_EQ(conv1d(Tensor::zeros({1, 0, 5}), Tensor::zeros({2, 0, 2}), Tensor::full({2}, 3.0))
                .to_vector<float>(),
            std::vector<float>(8, 3.0f));
}

TEST(Conv1d, RefusesWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({1, 3, 5});
  const Tensor weight = Tensor::zeros({4, 3, 2});
  EXPECT_THROW(conv1d(x, Tensor::zeros({4, 2, 2})), InvalidArgument);
  EXPECT_THROW(conv1d(x, Tensor::zeros({4, 3})), InvalidArgument);
  EXPECT_THROW(conv1d(x, Tensor::zeros({4, 3, 0})), InvalidArgument);
  EXPECT_THROW(conv1d(x, Tensor::zeros({4, 3, 6})), InvalidArgument);
  EXPECT_THROW(conv1d(x, weight, Tensor::zeros({3})), InvalidArgument);
  EXPECT_THROW(conv1d(x, weight, {}, {.stride = 0}), InvalidArgument);
  EXPECT_THROW(conv1d(x, weight, {}, {.pad_after = -1}), InvalidArgument);
  EXPECT_THROW(conv1d(x, weight.to(DType::f64)), InvalidArgument);
  EXPECT_THROW(conv2d(x, weight), InvalidArgument);
}

TEST(Conv2d, GradientsAreThoseOfDifferences) {
  for (const Conv2dOptions& options :
       {Conv2dOptions{}, Conv2dOptions{.stride = {2, 1}, .pad = {1, 2}},
        Conv2dOptions{.pad = {0, 1}, .dilation = {2, 1}}}) {
    const auto f = [&](const Tensors& in) {
      return Tensors{conv2d(in[0], in[1], in[2], options)};
    };
    const Tensors inputs{random_tensor("x", {2, 2, 5, 4}),
                         random_tensor("weight", {3, 2, 3, 2}), random_tensor("bias", {3})};
    expect_gradients(f, inputs);
    expect_same_in_float(f, inputs);
  }
}

TEST(Conv2d, ReadsAnyStrides) {
  const auto f = [](const Tensors& in) {
    return Tensors{conv2d(in[0].transpose(2, 3), in[1].transpose(0, 1)).transpose(0, 1)};
  };
  expect_gradients(f,
                   {random_tensor("x", {2, 2, 3, 5}), random_tensor("weight", {2, 3, 2, 2})});
}

TEST(Conv2d, StoresHalfPrecisionAndComputesInFloat) {
  const Tensor x = random_tensor("x", {1, 3, 6, 6}, -1.0, 1.0, DType::bf16);
  const Tensor weight = random_tensor("weight", {2, 3, 3, 3}, -1.0, 1.0, DType::bf16);
  const Tensor y = conv2d(x, weight);
  EXPECT_EQ(y.dtype(), DType::bf16);
  expect_close(y, conv2d(x.to(DType::f64), weight.to(DType::f64)),
               test::tolerance(DType::bf16, 27));
}

TEST(MaxPoolByTwo, TakesTheLargestOfEachBlock) {
  const Tensor x = Tensor::from(std::vector<float>{1, 5, 2, 0, 9,  //
                                                   4, 3, 8, 7, 9,  //
                                                   6, 6, 6, 6, 6},
                                {1, 3, 5});
  EXPECT_EQ(max_pool_by_two(x, 1).to_vector<float>(), (std::vector<float>{5, 8}));
  EXPECT_EQ(max_pool_by_two(x, 2).to_vector<float>(), (std::vector<float>{5, 2, 4, 8, 6, 6}));
  EXPECT_EQ(max_pool_by_two(x, -1).shape(), (Shape{1, 3, 2}));
}

TEST(MaxPoolByTwo, GradientGoesToTheFirstOfEquals) {
  Tensor x = Tensor::full({1, 2, 2}, 3.0).set_requires_grad();
  max_pool_by_two(x, 1).backward(Tensor::full({1, 1, 1}, 5.0));
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{5, 0, 0, 0}));
}

TEST(MaxPoolByTwo, GradientsAreThoseOfDifferences) {
  for (const int axis : {1, 2, 3}) {
    const auto f = [&](const Tensors& in) {
      return Tensors{max_pool_by_two(in[0].transpose(0, 3), axis)};
    };
    expect_gradients(f, {random_tensor("x", {3, 4, 5, 2})});
    expect_same_in_float(f, {random_tensor("x", {3, 4, 5, 2})});
  }
}

TEST(MaxPoolByTwo, KeepsNanAndMinusInfinity) {
  const Tensor x = Tensor::from(std::vector<float>{1, NAN, NAN, 2, -INFINITY, -INFINITY}, {6});
  const std::vector<float> y = max_pool_by_two(x, 0).to_vector<float>();
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
  EXPECT_EQ(y[2], -INFINITY);
}

TEST(MaxPoolByTwo, OfNothingIsNothing) {
  EXPECT_EQ(max_pool_by_two(Tensor::zeros({2, 1, 5}), 1).shape(), (Shape{2, 0, 2}));
  EXPECT_EQ(max_pool_by_two(Tensor::zeros({0, 4}), 1).shape(), (Shape{0, 2}));
  EXPECT_THROW(max_pool_by_two(Tensor::zeros({2}), 1), InvalidArgument);
}

}  // namespace
}  // namespace attn
