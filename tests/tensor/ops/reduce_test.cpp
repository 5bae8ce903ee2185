#include "attn/tensor/ops/reduce.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn {
namespace {

using test::expect_gradients;
using test::expect_same_in_float;
using test::random_tensor;

TEST(Reduce, SumsAndMeansDifferentiateAlongEveryAxis) {
  for (int axis = -1; axis < 3; ++axis) {
    const auto call = [axis](const std::vector<Tensor>& in) {
      return std::vector<Tensor>{sum(in[0], axis), mean(in[0], axis, Axis::keep), sum(in[0]),
                                 mean(in[0])};
    };
    expect_gradients(call, {random_tensor("x", {2, 3, 5})});
    expect_same_in_float(call, {random_tensor("x", {7, 13, 33})});
  }
}

TEST(Reduce, SumToIsTheGradientOfBroadcasting) {
  const Tensor x = Tensor::full({2, 3, 4}, 1.0);
  EXPECT_EQ(sum_to(x, {3, 1}).to_vector<float>(), (std::vector<float>{8, 8, 8}));
  EXPECT_EQ(sum_to(x, {}).item(), 24.0);
  EXPECT_THROW((void)sum_to(x, {2}), InvalidArgument);
}

TEST(Reduce, TheFirstMaximumWinsAndGetsTheGradient) {
  Tensor x = Tensor::from(std::vector<float>{1, 5, 5, 2, 0, -1}, {2, 3}).set_requires_grad();
  const Maximum best = max(x, 1);
  EXPECT_EQ(best.values.to_vector<float>(), (std::vector<float>{5, 2}));
  EXPECT_EQ(best.indices.to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 0}));
  sum(best.values).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0, 1, 0, 1, 0, 0}));
}

TEST(Reduce, EmptyExtentsSumToZeroAndHaveNoMaximum) {
  EXPECT_EQ(sum(Tensor::zeros({0, 3}), 0).to_vector<float>(), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(sum(Tensor::zeros({0})).item(), 0.0);
  EXPECT_THROW((void)argmax(Tensor::zeros({2, 0}), 1), InvalidArgument);
  EXPECT_THROW((void)top(Tensor::zeros({2}), 1), InvalidArgument);
}

TEST(Reduce, TheLargestOfEachRowComeInOrder) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x =
      Tensor::from(std::vector<float>{2, 5, 5, -1, 7, nan, -infinity, 3, nan, nan}, {2, 5});
  EXPECT_EQ(top(x, 3).to_vector<double>(),
            (std::vector<double>{7, 5, 5, 3, -infinity, -infinity, 4, 1, 2, 2, 1, -1}));
}

}  // namespace
}  // namespace attn
