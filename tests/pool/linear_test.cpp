// Linear attention is causal attention with scores as weights; decay and delta rules.

#include "attn/pool/linear.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

using pool::LinearStep, pool::UpdateRule;

constexpr int kChannels = 3, kValues = 2, kSteps = 6;

/// One head: q, k [steps, channels], v [steps, values], decay [steps, channels], beta [steps].
struct Sequence {
  std::vector<double> q, k, v, decay, beta;
};

Sequence random_sequence(test::Random& random) {
  return {random.numbers(kSteps * kChannels), random.numbers(kSteps * kChannels),
          random.numbers(kSteps * kValues), random.numbers(kSteps * kChannels, -2.0, 0.0),
          random.numbers(kSteps, 0.0, 1.0)};
}

std::vector<double> run(UpdateRule rule, const Sequence& x, double scale) {
  std::vector<double> state(kChannels * kValues), write(kValues), out(kSteps * kValues);
  for (std::size_t t = 0; t < kSteps; ++t) {
    const LinearStep<double> step{.k = &x.k[t * kChannels],
                                  .v = &x.v[t * kValues],
                                  .decay = &x.decay[t * kChannels],
                                  .beta = x.beta[t]};
    pool::linear_update(rule, step, kChannels, kValues, state.data(), write.data());
    pool::linear_read(&x.q[t * kChannels], state.data(), kChannels, kValues, scale,
                      &out[t * kValues]);
  }
  return out;
}

void expect_same(const std::vector<double>& got, const std::vector<double>& want) {
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_TRUE(test::close(got[i], want[i], test::tolerance(DType::f64, kSteps * kChannels)))
        << "element " << i;
}

TEST(LinearAttention, IsCausalAttentionWithScoresAsWeights) {
  test::Random random("LinearAttention");
  const Sequence x = random_sequence(random);
  std::vector<double> want(kSteps * kValues);
  for (std::size_t t = 0; t < kSteps; ++t) {
    for (std::size_t u = 0; u <= t; ++u) {
      double s = 0.0;
      for (std::size_t c = 0; c < kChannels; ++c)
        s += x.q[t * kChannels + c] * x.k[u * kChannels + c];
      for (std::size_t c = 0; c < kValues; ++c)
        want[t * kValues + c] += 0.5 * s * x.v[u * kValues + c];
    }
  }
  expect_same(run(UpdateRule::linear, x, 0.5), want);
}

TEST(LinearAttention, ADecayForgetsByItsExponential) {
  test::Random random("LinearAttention decay");
  Sequence x = random_sequence(random);
  std::vector<double> want(kSteps * kValues);
  for (std::size_t t = 0; t < kSteps; ++t) {
    for (std::size_t u = 0; u <= t; ++u) {
      double s = 0.0;
      for (std::size_t c = 0; c < kChannels; ++c) {
        double passed = 0.0;
        for (std::size_t r = u + 1; r <= t; ++r) passed += x.decay[r * kChannels + c];
        s += x.q[t * kChannels + c] * std::exp(passed) * x.k[u * kChannels + c];
      }
      for (std::size_t c = 0; c < kValues; ++c)
        want[t * kValues + c] += s * x.v[u * kValues + c];
    }
  }
  expect_same(run(UpdateRule::gated, x, 1.0), want);
}

TEST(LinearAttention, WithoutForgettingTheGatedRulesAreThePlainOnes) {
  test::Random random("LinearAttention plain");
  Sequence x = random_sequence(random);
  x.decay.assign(x.decay.size(), 0.0);
  expect_same(run(UpdateRule::gated, x, 1.0), run(UpdateRule::linear, x, 1.0));
  expect_same(run(UpdateRule::gated_delta, x, 1.0), run(UpdateRule::delta, x, 1.0));
}

TEST(LinearAttention, TheDeltaRuleReplacesWhatAKeyHeld) {
  std::vector<double> state(4), write(2), out(2);
  const std::vector<double> k{0.6, 0.8}, old_value{5.0, -1.0}, new_value{2.0, 3.0};
  for (const auto* v : {&old_value, &new_value}) {
    const LinearStep<double> step{.k = k.data(), .v = v->data(), .beta = 1.0};
    pool::linear_update(UpdateRule::delta, step, 2, 2, state.data(), write.data());
  }
  pool::linear_read(k.data(), state.data(), 2, 2, 1.0, out.data());
  EXPECT_NEAR(out[0], 2.0, test::kDouble);
  EXPECT_NEAR(out[1], 3.0, test::kDouble);
}

TEST(LinearAttention, OneDecayMayServeAllChannels) {
  std::vector<double> state(4, 1.0), write(2);
  const std::vector<double> zero(2);
  const double half = std::log(0.5);
  const LinearStep<double> step{
      .k = zero.data(), .v = zero.data(), .decay = &half, .decay_stride = 0};
  pool::linear_update(UpdateRule::gated, step, 2, 2, state.data(), write.data());
  for (const double s : state) EXPECT_DOUBLE_EQ(s, 0.5);
}

}  // namespace
}  // namespace attn
