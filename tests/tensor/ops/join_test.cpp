#include "attn/tensor/ops/join.hpp"

#include <gtest/gtest.h>

#include <cstdint>
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
using test::Tensors;

TEST(Concat, PutsOneBehindTheOther) {
  const Tensor a = Tensor::from(std::vector<float>{0, 1, 2, 3}, {2, 2});
  const Tensor b = Tensor::from(std::vector<float>{8, 9}, {2, 1});
  EXPECT_EQ(concat({a, b}, 1).to_vector<float>(), (std::vector<float>{0, 1, 8, 2, 3, 9}));
  EXPECT_EQ(concat({a, b.transpose(0, 1)}, 0).to_vector<float>(),
            (std::vector<float>{0, 1, 2, 3, 8, 9}));
}

TEST(Concat, IsUndoneBySlices) {
  const Tensor x = random_tensor("x", {3, 7, 2}, -1.0, 1.0, DType::bf16);
  for (const int axis : {0, 1, 2}) {
    const std::int64_t middle = x.size(axis) / 2;
    const Tensor back = concat({x.slice(axis, 0, middle), x.slice(axis, middle, middle),
                                x.slice(axis, middle, x.size(axis))},
                               axis);
    test::expect_close(back, x, 0.0);
    EXPECT_EQ(back.dtype(), DType::bf16);
  }
}

TEST(Concat, JoinsWholeNumbersAndMasks) {
  EXPECT_EQ(concat({Tensor::arange(2), Tensor::arange(1)}, 0).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{0, 1, 0}));
  EXPECT_EQ(
      concat({Tensor::zeros({2, 1}, DType::boolean), Tensor::zeros({2, 3}, DType::boolean)}, -1)
          .shape(),
      (Shape{2, 4}));
}

TEST(Concat, GradientsAreThoseOfDifferences) {
  for (const int axis : {0, 1, -1}) {
    Shape other{2, 3, 2};
    other[axis] = 1;
    const auto f = [&](const Tensors& in) {
      return Tensors{concat({in[0], in[1], in[0]}, axis)};
    };
    expect_gradients(f, {random_tensor("a", {2, 3, 2}), random_tensor("b", other)});
    expect_same_in_float(f, {random_tensor("a", {2, 3, 2}), random_tensor("b", other)});
  }
}

TEST(Concat, RefusesWhatDoesNotFit) {
  const Tensor a = Tensor::zeros({2, 2});
  EXPECT_THROW(concat(Tensors{}, 0), InvalidArgument);
  EXPECT_THROW(concat({a, Tensor::zeros({3, 2})}, 1), InvalidArgument);
  EXPECT_THROW(concat({a, Tensor::zeros({2})}, 0), InvalidArgument);
  EXPECT_THROW(concat({a, Tensor::zeros({2, 2}, DType::f64)}, 0), InvalidArgument);
  EXPECT_THROW(concat({a, a}, 2), InvalidArgument);
  EXPECT_THROW(concat({a, Tensor()}, 0), InvalidArgument);
}

TEST(Stack, MakesANewAxis) {
  const Tensor a = Tensor::from(std::vector<float>{0, 1}, {2});
  const Tensor b = Tensor::from(std::vector<float>{2, 3}, {2});
  EXPECT_EQ(stack({a, b}, 0).to_vector<float>(), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(stack({a, b}, 1).to_vector<float>(), (std::vector<float>{0, 2, 1, 3}));
  EXPECT_EQ(stack({a, b, a}, -1).shape(), (Shape{2, 3}));
}

TEST(Stack, GradientsAreThoseOfDifferences) {
  const auto f = [](const Tensors& in) { return Tensors{stack({in[0], in[1]}, 1)}; };
  expect_gradients(f, {random_tensor("a", {2, 3}), random_tensor("b", {2, 3})});
  EXPECT_THROW(stack({Tensor::zeros({2}), Tensor::zeros({3})}, 0), InvalidArgument);
  EXPECT_THROW(stack({}, 0), InvalidArgument);
}

TEST(Pad, PutsZerosAround) {
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(pad(x, 1, 1, 2).to_vector<float>(),
            (std::vector<float>{0, 1, 2, 0, 0, 0, 3, 4, 0, 0}));
  EXPECT_EQ(pad(x, 0, 1, 0).to_vector<float>(), (std::vector<float>{0, 0, 1, 2, 3, 4}));
  EXPECT_EQ(pad(Tensor::zeros({2, 0}), 1, 1, 1).to_vector<float>(),
            std::vector<float>(4, 0.0f));
}

TEST(Pad, GradientsAreThoseOfDifferences) {
  for (const int axis : {0, 1}) {
    const auto f = [&](const Tensors& in) {
      return Tensors{pad(in[0].transpose(0, 1), axis, 2, 1)};
    };
    expect_gradients(f, {random_tensor("x", {2, 3})});
    expect_same_in_float(f, {random_tensor("x", {2, 3})});
  }
  EXPECT_THROW(pad(Tensor::zeros({2}), 0, -1, 0), InvalidArgument);
}

}  // namespace
}  // namespace attn
