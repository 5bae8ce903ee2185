#include "attn/tensor/ops/matmul.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn {
namespace {

using test::expect_close;
using test::expect_gradients;
using test::expect_same_in_float;
using test::random_tensor;

std::vector<Tensor> product(const std::vector<Tensor>& in) {
  return {matmul(in[0], in[1])};
}

TEST(Matmul, GradientsAreFiniteDifferencesForEveryBroadcast) {
  expect_gradients(product, {random_tensor("a", {3, 4}), random_tensor("b", {4, 2})});
  expect_gradients(product, {random_tensor("a", {2, 3, 4}), random_tensor("b", {4, 2})});
  expect_gradients(product, {random_tensor("a", {3, 4}), random_tensor("b", {2, 4, 2})});
  expect_gradients(product, {random_tensor("a", {2, 1, 3, 4}), random_tensor("b", {5, 4, 2})});
}

TEST(Matmul, FloatAgreesWithDoubleOverTheBlocks) {
  expect_same_in_float(product, {random_tensor("a", {300, 37}), random_tensor("b", {37, 1100})},
                       1e-4);
}

TEST(Matmul, TurnedAndSlicedInputsNeedNoCopies) {
  const Tensor a = random_tensor("a", {4, 3}, -1, 1, DType::f32);
  const Tensor b = random_tensor("b", {5, 8}, -1, 1, DType::f32);
  const Tensor left = a.transpose(0, 1);
  const Tensor right = b.slice(1, 2, 6).transpose(0, 1);
  expect_close(matmul(left, right), matmul(left.contiguous(), right.contiguous()), 1e-6);
}

TEST(Matmul, EmptyInnerExtentGivesZeros) {
  EXPECT_EQ(matmul(Tensor::zeros({2, 0}), Tensor::zeros({0, 3})).to_vector<float>(),
            std::vector<float>(6, 0.0f));
  EXPECT_EQ(matmul(Tensor::zeros({0, 2}), Tensor::zeros({2, 3})).numel(), 0);
}

TEST(Matmul, LinearTakesAnyLeadingAxes) {
  const auto call = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{linear(in[0], in[1], in[2])};
  };
  expect_gradients(call, {random_tensor("x", {2, 3, 4}), random_tensor("w", {5, 4}),
                          random_tensor("b", {5})});
  expect_gradients(call, {random_tensor("x", {4}), random_tensor("w", {5, 4}), Tensor()});
}

TEST(Matmul, HalfTypesAreWidened) {
  const Tensor a = random_tensor("a", {3, 4}, -1, 1, DType::f16);
  EXPECT_EQ(matmul(a, a.transpose(0, 1)).dtype(), DType::f16);
}

TEST(Matmul, WrongSizesNameBothShapes) {
  EXPECT_THROW((void)matmul(Tensor::zeros({2, 3}), Tensor::zeros({2, 3})), InvalidArgument);
  EXPECT_THROW((void)matmul(Tensor::zeros({3}), Tensor::zeros({3, 2})), InvalidArgument);
  EXPECT_THROW((void)linear(Tensor::zeros({2, 3}), Tensor::zeros({4, 2})), InvalidArgument);
}

}  // namespace
}  // namespace attn
