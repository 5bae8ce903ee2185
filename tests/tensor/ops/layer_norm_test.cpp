// Layer normalisation: mean and variance of rows, gradients, strides, misuse.

#include <gtest/gtest.h>

#include <cmath>
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

Tensors normalised(const Tensors& in) {
  return {layer_norm(in[0], in[1], in[2])};
}

TEST(LayerNorm, RowsHaveMeanZeroAndVarianceOne) {
  const Tensor x = random_tensor("x", {5, 37}, 2.0, 9.0, DType::f32);
  const Tensor y = layer_norm(x, {}, {}, 0.0);
  expect_close(mean(y, -1), Tensor::zeros({5}), test::tolerance(DType::f32, 37));
  expect_close(mean(square(y), -1), Tensor::full({5}, 1.0), test::tolerance(DType::f32, 37));
}

TEST(LayerNorm, IsScaledAndShiftedByWeightAndBias) {
  const Tensor x = Tensor::from(std::vector<double>{1.0, 3.0}, {1, 2});
  const Tensor weight = Tensor::from(std::vector<double>{2.0, 5.0}, {2});
  const Tensor bias = Tensor::from(std::vector<double>{10.0, 20.0}, {2});
  // Mean 2, variance 1; with eps = 3 the numbers become -1/2 and 1/2.
  expect_close(layer_norm(x, weight, bias, 3.0),
               Tensor::from(std::vector<double>{9.0, 22.5}, {1, 2}), 1e-15);
}

TEST(LayerNorm, GradientsAreThoseOfDifferences) {
  for (const Shape& shape : {Shape{3, 7}, Shape{2, 2, 16}, Shape{1, 33}, Shape{5}}) {
    const Shape features{shape[-1]};
    const Tensors inputs{random_tensor("x", shape), random_tensor("weight", features),
                         random_tensor("bias", features)};
    expect_gradients(normalised, inputs);
    expect_same_in_float(normalised, inputs, 2e-5);
  }
}

TEST(LayerNorm, GradientsWithoutWeightOrBiasAreThoseOfDifferences) {
  const Tensor x = random_tensor("x", {3, 9});
  expect_gradients(normalised, {x, {}, {}});
  expect_gradients(normalised, {x, random_tensor("weight", {9}), {}});
  expect_gradients(normalised, {x, {}, random_tensor("bias", {9})});
}

TEST(LayerNorm, ManyRowsAddUpTheGradientOfTheWeights) {
  // More rows than one block holds.
  const Tensors inputs{random_tensor("x", {3000, 24}), random_tensor("weight", {24}),
                       random_tensor("bias", {24})};
  expect_same_in_float(normalised, inputs, 1e-4);
}

TEST(LayerNorm, ReadsAnyStrides) {
  const Tensor x = random_tensor("x", {6, 5});
  const Tensor weight = random_tensor("weight", {6});
  const auto f = [](const Tensors& in) {
    return Tensors{layer_norm(in[0].transpose(0, 1), in[1], in[1])};
  };
  expect_gradients(f, {x, weight});
}

TEST(LayerNorm, OfNothingIsNothing) {
  Tensor x = Tensor::zeros({0, 4}).set_requires_grad();
  Tensor weight = Tensor::full({4}, 1.0).set_requires_grad();
  const Tensor y = layer_norm(x, weight, weight);
  EXPECT_EQ(y.shape(), (Shape{0, 4}));
  y.backward(Tensor::zeros({0, 4}));
  expect_close(weight.grad(), Tensor::zeros({4}), 0.0);
  EXPECT_EQ(layer_norm(Tensor::zeros({4, 0}), {}, {}).shape(), (Shape{4, 0}));
}

TEST(LayerNorm, StoresHalfPrecisionAndComputesInFloat) {
  const Tensor x = random_tensor("x", {4, 19});
  const Tensor weight = random_tensor("weight", {19});
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Tensor y = layer_norm(x.to(dtype), weight.to(dtype), weight.to(dtype));
    EXPECT_EQ(y.dtype(), dtype);
    expect_close(y,
                 layer_norm(x.to(dtype).to(DType::f64), weight.to(dtype).to(DType::f64),
                            weight.to(dtype).to(DType::f64)),
                 test::tolerance(dtype, 19));
  }
}

TEST(LayerNorm, RefusesWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_THROW(layer_norm(x, Tensor::zeros({2}), {}), InvalidArgument);
  EXPECT_THROW(layer_norm(x, {}, Tensor::zeros({4})), InvalidArgument);
  EXPECT_THROW(layer_norm(x, Tensor::zeros({3}, DType::f64), {}), InvalidArgument);
  EXPECT_THROW(layer_norm(Tensor::zeros({}), {}, {}), InvalidArgument);
  EXPECT_THROW(layer_norm(Tensor::arange(3), {}, {}), InvalidArgument);
}

}  // namespace
}  // namespace attn
