#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/nn/mechanisms/glimpse/glimpse_network.hpp"
#include "attn/nn/mechanisms/glimpse/glimpse_policy.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "nn/support/tasks.hpp"

namespace attn::test {
namespace {

constexpr std::int64_t kBatch = 32;
constexpr std::int64_t kClasses = 3;
constexpr std::int64_t kCorners = 4;

/// x, y of a corner.
std::vector<float> corner(std::int64_t which) {
  return {which % 2 == 0 ? -0.6f : 0.6f, which < 2 ? -0.6f : 0.6f};
}

/// The answer needs what is seen and where it is seen.
double train_network(bool knows_where) {
  const WithHead model(nn::GlimpseNetwork({.glimpse_dim = kClasses,
                                           .glimpse_hidden = 16,
                                           .location_hidden = 16,
                                           .out_dim = 32}),
                       32, kClasses);
  return train(model, 250, 0.02, [&] {
    std::vector<float> seen, places;
    std::vector<std::int64_t> answers;
    for (std::int64_t b = 0; b < kBatch; ++b) {
      const std::int64_t what = drawn(kClasses);
      const std::int64_t where = drawn(kCorners);
      for (std::int64_t c = 0; c < kClasses; ++c) seen.push_back(c == what ? 1.0f : 0.0f);
      for (const float x : corner(where)) places.push_back(knows_where ? x : 0.0f);
      answers.push_back((what + where) % kClasses);
    }
    const Tensor g = model.looks.forward(Tensor::from(seen, {kBatch, kClasses}),
                                         Tensor::from(places, {kBatch, 2}));
    return cross_entropy(model.out(g), Tensor::from(answers, {kBatch}));
  });
}

TEST(GlimpseNetwork, LearnsWhatDependsOnWhere) {
  expect_learns(0.3, [] { return train_network(true); }, [] { return train_network(false); });
}

/// States that name a corner; a draw near it is rewarded. Returns the mean's mean squared
/// error.
double train_policy(bool knows_state) {
  const nn::GlimpsePolicy policy({.hidden_dim = kCorners, .sigma = 0.3});
  const auto loss = [&](bool error) {
    std::vector<float> states, targets;
    for (std::int64_t b = 0; b < kBatch; ++b) {
      const std::int64_t where = drawn(kCorners);
      for (std::int64_t c = 0; c < kCorners; ++c)
        states.push_back(knows_state && c == where ? 1.0f : 0.0f);
      for (const float x : corner(where)) targets.push_back(x);
    }
    const Tensor hidden = Tensor::from(states, {kBatch, 1, kCorners});
    const Tensor target = Tensor::from(targets, {kBatch, 1, 2});
    if (error) return mean_squared_error(policy.mean(hidden), target);
    const Tensor sample = policy.draw(hidden, nn::random());
    const Tensor reward = neg(sum(square(sample - target), 2)).squeeze(1);
    const auto made = policy.forward(hidden, sample, reward);
    return made.reinforce_loss + made.baseline_loss;
  };
  train(policy, 300, 0.03, [&] { return loss(false); });
  const NoGrad off_the_tape;
  return loss(true).item();
}

TEST(GlimpsePolicy, LearnsToLookWhereItIsRewarded) {
  expect_learns(0.1, [] { return train_policy(true); }, [] { return train_policy(false); });
}

}  // namespace
}  // namespace attn::test
