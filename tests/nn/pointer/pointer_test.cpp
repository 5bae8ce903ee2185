#include "attn/nn/mechanisms/pointer/pointer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

Tensor some(const Shape& shape) {
  return uniform(shape, -1.0, 1.0, nn::random());
}
Tensor ids(const std::vector<std::int64_t>& values, const Shape& shape) {
  return Tensor::from(values, shape);
}

TEST(Pointer, LogProbabilityOfATargetOutOfReachIsMinusInfinity) {
  const nn::Pointer pointer({.encoder_dim = 3, .decoder_dim = 2, .hidden = 4});
  const auto made =
      pointer.forward(some({1, 4, 3}), some({1, 2, 2}),
                      {.lengths = ids({2}, {1}), .visited = {}}, ids({1, 3}, {1, 2}));
  const auto log_prob = made.log_prob.to_vector<float>();
  EXPECT_TRUE(std::isfinite(log_prob[0]));
  EXPECT_EQ(log_prob[1], -INFINITY);
}

TEST(Pointer, LogProbabilityStaysFiniteWhereTheWeightVanishes) {
  const nn::Pointer pointer({.encoder_dim = 1, .decoder_dim = 1, .hidden = 1});
  // Scores of 200 and -200: the second weight is 0 in float.
  for (Tensor& parameter : pointer.parameters()) {
    parameter.set_requires_grad(false);
    parameter.fill(1.0);
  }
  pointer.parameters()[0].fill(200.0);
  Tensor encoder = Tensor::from(std::vector<float>{20.0f, -20.0f}, {1, 2, 1});
  const auto made = pointer.forward(encoder, Tensor::zeros({1, 1, 1}), {}, ids({1}, {1, 1}));
  EXPECT_EQ(made.weights.to_vector<float>()[1], 0.0f);
  EXPECT_NEAR(made.log_prob.to_vector<float>()[0], -400.0f, test::kFloatTraining);
}

TEST(Pointer, RefusesTargetsThatAreNoPlace) {
  const nn::Pointer pointer({.encoder_dim = 3, .decoder_dim = 2, .hidden = 4});
  const Tensor encoder = some({1, 4, 3});
  const Tensor decoder = some({1, 2, 2});
  EXPECT_THROW(pointer.forward(encoder, decoder, {}, ids({0, 4}, {1, 2})), InvalidArgument);
  EXPECT_THROW(pointer.forward(encoder, decoder, {}, ids({0, -2}, {1, 2})), InvalidArgument);
  EXPECT_THROW(pointer.forward(encoder, decoder, {}, ids({0}, {1, 1})), InvalidArgument);
}

}  // namespace
}  // namespace attn
