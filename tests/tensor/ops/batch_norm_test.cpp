// Batch normalisation: statistics, training and evaluation, gradients, misuse.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
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

RunningStatistics fresh(std::int64_t channels, DType dtype) {
  return {Tensor::zeros({channels}, dtype), Tensor::full({channels}, 1.0, dtype)};
}

TEST(BatchNorm, ChannelsHaveMeanZeroAndVarianceOne) {
  const Tensor x = random_tensor("x", {4, 3, 5, 2}, 1.0, 4.0, DType::f32);
  const Tensor y = batch_norm(x, {}, {}, {}, Phase::train, 0.1, 0.0);
  const Tensor channels = y.transpose(0, 1).reshape({3, 40});
  expect_close(mean(channels, 1), Tensor::zeros({3}), test::tolerance(DType::f32, 40));
  expect_close(mean(square(channels), 1), Tensor::full({3}, 1.0),
               test::tolerance(DType::f32, 40));
}

TEST(BatchNorm, TrainingMovesTheRunningStatistics) {
  const Tensor x = Tensor::from(std::vector<float>{1.0f, 3.0f}, {2, 1});
  const RunningStatistics running = fresh(1, DType::f32);
  batch_norm(x, {}, {}, running, Phase::train, 0.1);
  EXPECT_FLOAT_EQ(static_cast<float>(running.mean.item()), 0.2f);
  // The unbiased variance of 1 and 3 is 2.
  EXPECT_FLOAT_EQ(static_cast<float>(running.variance.item()), 0.9f + 0.2f);
}

TEST(BatchNorm, EvaluationUsesTheRunningStatisticsAndLeavesThem) {
  const Tensor x = Tensor::from(std::vector<double>{1.0, 5.0}, {2, 1});
  const RunningStatistics running{Tensor::full({1}, 3.0, DType::f64),
                                  Tensor::full({1}, 4.0, DType::f64)};
  const Tensor weight = Tensor::full({1}, 6.0, DType::f64);
  const Tensor bias = Tensor::full({1}, 1.0, DType::f64);
  expect_close(batch_norm(x, weight, bias, running, Phase::eval, 0.1, 0.0),
               Tensor::from(std::vector<double>{-5.0, 7.0}, {2, 1}), 1e-15);
  EXPECT_EQ(running.mean.item(), 3.0);
  EXPECT_EQ(running.variance.item(), 4.0);
}

TEST(BatchNorm, GradientsAreThoseOfDifferences) {
  for (const Phase phase : {Phase::train, Phase::eval})
    for (const Shape& shape : {Shape{5, 3}, Shape{2, 3, 4}, Shape{2, 1, 3, 2}}) {
      const Shape channels{shape[1]};
      const auto f = [&](const Tensors& in) {
        return Tensors{batch_norm(in[0], in[1], in[2], fresh(shape[1], in[0].dtype()), phase)};
      };
      const Tensors inputs{random_tensor("x", shape), random_tensor("weight", channels),
                           random_tensor("bias", channels)};
      expect_gradients(f, inputs);
      expect_same_in_float(f, inputs, 2e-5);
      expect_gradients(f, {inputs[0], {}, {}});
    }
}

TEST(BatchNorm, ALaterStepDoesNotDisturbTheGradientOfAnEarlierOne) {
  Tensor x = random_tensor("x", {4, 2}).set_requires_grad();
  const RunningStatistics running = fresh(2, DType::f64);
  const Tensor y = batch_norm(x, {}, {}, running, Phase::eval);
  batch_norm(x, {}, {}, running, Phase::train);
  EXPECT_NO_THROW(y.backward(Tensor::full({4, 2}, 1.0, DType::f64)));
}

TEST(BatchNorm, OfNothingIsNothing) {
  const RunningStatistics running = fresh(3, DType::f32);
  for (const Phase phase : {Phase::train, Phase::eval})
    EXPECT_EQ(batch_norm(Tensor::zeros({0, 3, 2}), {}, {}, running, phase).shape(),
              (Shape{0, 3, 2}));
  expect_close(running.variance, Tensor::full({3}, 1.0), 0.0);
}

TEST(BatchNorm, RefusesWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_THROW(batch_norm(Tensor::zeros({3}), {}, {}, {}, Phase::train), InvalidArgument);
  EXPECT_THROW(batch_norm(x, {}, {}, {}, Phase::eval), InvalidArgument);
  EXPECT_THROW(batch_norm(x, Tensor::zeros({2}), {}, {}, Phase::train), InvalidArgument);
  EXPECT_THROW(batch_norm(Tensor::zeros({1, 3}), {}, {}, {}, Phase::train), InvalidArgument);
  EXPECT_THROW(batch_norm(x, {}, {}, fresh(4, DType::f32), Phase::train), InvalidArgument);
}

}  // namespace
}  // namespace attn
