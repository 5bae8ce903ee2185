#include "attn/nn/mechanisms/hard/hard_attention.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"

namespace attn::nn {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
const Tensor kLengths = Tensor::from(std::vector<std::int64_t>{2}, {1});

TEST(HardAttention, ScoresPastTheLengthAreNotRead) {
  Tensor scores = Tensor::from(std::vector<float>{0.5f, -1.0f, kNaN}, {1, 1, 3});
  scores.set_requires_grad();
  const Tensor annotations = Tensor::full({1, 3, 2}, 1.0);
  const Tensor sample = Tensor::from(std::vector<std::int64_t>{1}, {1, 1});
  const HardLook look = hard_attention(scores, annotations, sample, kLengths);
  (sum(look.log_prob) + sum(look.entropy) + sum(square(look.alpha))).backward();
  const auto grad = scores.grad().to_vector<float>();
  EXPECT_TRUE(std::isfinite(grad[0]) && std::isfinite(grad[1]));
  EXPECT_EQ(grad[2], 0.0f);
}

TEST(HardAttention, StepsPastTheTargetAreNotRead) {
  Tensor scores =
      Tensor::from(std::vector<float>{0.5f, -1.0f, 0.0f, kNaN, kNaN, kNaN}, {1, 2, 3});
  scores.set_requires_grad();
  const Reinforced made =
      reinforce({.scores = scores,
                 .sample = Tensor::from(std::vector<std::int64_t>{1, 0}, {1, 2}),
                 .log_py = Tensor::full({1}, -2.0),
                 .baseline = Tensor::zeros({1}),
                 .target_lens = Tensor::from(std::vector<std::int64_t>{1}, {1})});
  made.surrogate.backward();
  EXPECT_TRUE(std::isfinite(made.surrogate.item()));
  for (const float grad : scores.grad().to_vector<float>()) EXPECT_TRUE(std::isfinite(grad));
}

TEST(HardAttention, DrawsFollowTheProbabilities) {
  const Tensor scores =
      Tensor::from(std::vector<float>{std::log(0.2f), std::log(0.8f), 3.0f}, {1, 1, 3})
          .expand({1, 4000, 3})
          .contiguous();
  Random random(3);
  std::vector<int> counts(3, 0);
  for (const std::int64_t place :
       draw_locations(scores, kLengths, random).to_vector<std::int64_t>())
    ++counts[static_cast<std::size_t>(place)];
  EXPECT_NEAR(counts[0], 800, 100);
  EXPECT_EQ(counts[2], 0);
}

TEST(HardAttention, TheSameStreamDrawsTheSame) {
  const Tensor scores = Tensor::zeros({2, 50, 4});
  Random a(9), b(9);
  EXPECT_EQ(draw_locations(scores, {}, a).to_vector<std::int64_t>(),
            draw_locations(scores, {}, b).to_vector<std::int64_t>());
}

TEST(HardAttention, ADrawPastTheLengthIsRefused) {
  EXPECT_THROW(hard_attention(Tensor::zeros({1, 1, 3}), Tensor::zeros({1, 3, 2}),
                              Tensor::from(std::vector<std::int64_t>{2}, {1, 1}), kLengths),
               InvalidArgument);
}

}  // namespace
}  // namespace attn::nn
