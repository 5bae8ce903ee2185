#include "attn/kernels/linear.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/target.hpp"
#include "attn/pool/linear.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

using pool::UpdateRule;

constexpr std::array kRules{UpdateRule::linear, UpdateRule::gated, UpdateRule::delta,
                            UpdateRule::gated_delta};

struct Sizes {
  int batch = 2, heads = 4, kv_heads = 2, steps = 6, channels = 5, values = 7;
  bool shared_decay = false;
  bool past = true;

  std::string text() const {
    return std::to_string(batch) + "x" + std::to_string(heads) + "/" +
           std::to_string(kv_heads) + "x" + std::to_string(steps) + "x" +
           std::to_string(channels) + "x" + std::to_string(values);
  }
};

/// A random problem; keys are short, so that states stay small.
template <class T>
struct Problem {
  Problem(const Sizes& s, UpdateRule rule) : sizes(s) {
    test::Random random("linear attention");
    const auto fill = [&](auto& to, int count, double low, double high) {
      using E = typename std::decay_t<decltype(to)>::value_type;
      for (int i = 0; i < count; ++i)
        to.push_back(E(static_cast<float>(random.uniform(low, high))));
      to.push_back(E(0.0f));  // an address for an empty vector
    };
    const double length = 1.0 / std::sqrt(s.channels + 1.0);
    fill(q, s.batch * s.heads * s.steps * s.channels, -1, 1);
    fill(k, s.batch * s.kv_heads * s.steps * s.channels, -length, length);
    fill(v, s.batch * s.kv_heads * s.steps * s.values, -1, 1);
    const int width = s.shared_decay ? 1 : s.channels;
    fill(decay, s.batch * s.kv_heads * s.steps * width, -0.5, 0);
    fill(beta, s.batch * s.kv_heads * s.steps, 0, 1);
    fill(past, s.batch * s.kv_heads * s.channels * s.values, -1, 1);
    state.resize(past.size());
    out.resize(static_cast<std::size_t>(s.batch * s.heads * s.steps * s.values) + 1);
    args.q = packed<const T>(q.data(), s.batch, s.heads, s.steps, s.channels);
    args.k = packed<const T>(k.data(), s.batch, s.kv_heads, s.steps, s.channels);
    args.v = packed<const T>(v.data(), s.batch, s.kv_heads, s.steps, s.values);
    if (pool::has_decay(rule))
      args.decay = packed<const T>(decay.data(), s.batch, s.kv_heads, s.steps, width);
    if (pool::has_delta(rule))
      args.beta = packed<const T>(beta.data(), s.batch, s.kv_heads, s.steps);
    if (s.past)
      args.past =
          packed<const StatOf<T>>(past.data(), s.batch, s.kv_heads, s.channels, s.values);
    args.state = packed<StatOf<T>>(state.data(), s.batch, s.kv_heads, s.channels, s.values);
    args.out = packed<T>(out.data(), s.batch, s.heads, s.steps, s.values);
    args.rule = rule;
    args.scale = 0.5;
  }
  Problem(const Problem&) = delete;

  Sizes sizes;
  std::vector<T> q, k, v, decay, beta, out;
  std::vector<StatOf<T>> past, state;
  LinearArgs<T> args;
};

template <class T>
void expect_same(const Problem<T>& got, const Problem<T>& want, const std::string& what) {
  const int length = got.sizes.channels * (got.sizes.steps + 1) + 1;
  for (std::size_t i = 0; i < want.out.size(); ++i)
    ASSERT_TRUE(test::close(static_cast<double>(static_cast<StatOf<T>>(got.out[i])),
                            static_cast<double>(static_cast<StatOf<T>>(want.out[i])),
                            test::tolerance(kDType<T>, length)))
        << what << ", out " << i;
  for (std::size_t i = 0; i < want.state.size(); ++i)
    ASSERT_TRUE(test::close(got.state[i], want.state[i], test::tolerance(DType::f32, length)))
        << what << ", state " << i;
}

std::vector<Sizes> grid() {
  return {{},
          {1, 1, 1, 1, 1, 1},
          {1, 3, 3, 5, 17, 64, true},
          {2, 6, 2, 3, 33, 65, false, false},
          {1, 8, 1, 4, 16, 130, true, false},
          {2, 2, 2, 0, 4, 5},
          {1, 2, 1, 3, 0, 4},
          {1, 2, 1, 3, 4, 0},
          {0, 2, 1, 3, 4, 5}};
}

template <class T>
class Linear : public testing::Test {};
using Types = testing::Types<float, BFloat16, Float16>;
TYPED_TEST_SUITE(Linear, Types);

TYPED_TEST(Linear, FastIsTheReferenceOnEveryTarget) {
  for (const Target target : cpu::kBuiltTargets) {
    if (!cpu::available(target)) continue;
    for (const UpdateRule rule : kRules)
      for (const Sizes& sizes : grid()) {
        Problem<TypeParam> fast(sizes, rule);
        Problem<TypeParam> slow(sizes, rule);
        cpu::linear(fast.args, {.threads = 2, .target = target});
        reference::linear(slow.args);
        expect_same(fast, slow, std::string(name_of(target)) + " " + sizes.text());
      }
  }
}

TEST(LinearThreads, AnyNumberGivesTheSameBits) {
  const Sizes sizes{2, 4, 2, 9, 20, 150};
  Problem<float> one(sizes, UpdateRule::gated_delta);
  Problem<float> four(sizes, UpdateRule::gated_delta);
  cpu::linear(one.args, {.threads = 1});
  cpu::linear(four.args, {.threads = 4});
  EXPECT_EQ(one.out, four.out);
  EXPECT_EQ(one.state, four.state);
}

TEST(LinearState, ChunksGiveWhatTheWholeGives) {
  Problem<double> whole({}, UpdateRule::gated_delta);
  Problem<double> parts({}, UpdateRule::gated_delta);
  reference::linear(whole.args);
  const auto rows = [](auto& view, std::int64_t first, std::int64_t count) {
    view.data = view.data == nullptr ? nullptr : view.at(0, 0, first);
    view.shape[2] = count;
  };
  for (int t = 0; t < parts.sizes.steps; t += 2) {
    LinearArgs<double> chunk = parts.args;
    rows(chunk.q, t, 2);
    rows(chunk.k, t, 2);
    rows(chunk.v, t, 2);
    rows(chunk.decay, t, 2);
    rows(chunk.beta, t, 2);
    rows(chunk.out, t, 2);
    if (t > 0) chunk.past = chunk.state;  // in place
    reference::linear(chunk);
  }
  for (std::size_t i = 0; i < whole.out.size(); ++i)
    EXPECT_DOUBLE_EQ(whole.out[i], parts.out[i]) << i;
  EXPECT_EQ(whole.state, parts.state);
}

TEST(LinearState, OneStepIsItsFormula) {
  // One channel: S = e^g s + beta k (v - e^g s k), out = scale q S.
  const double q = 2, k = 0.5, v = 3, g = -0.25, beta = 0.75, s = 1.5;
  double out = 0, state = 0;
  reference::linear(LinearArgs<double>{.q = packed<const double>(&q, 1, 1, 1, 1),
                                       .k = packed<const double>(&k, 1, 1, 1, 1),
                                       .v = packed<const double>(&v, 1, 1, 1, 1),
                                       .decay = packed<const double>(&g, 1, 1, 1, 1),
                                       .beta = packed<const double>(&beta, 1, 1, 1),
                                       .past = packed<const double>(&s, 1, 1, 1, 1),
                                       .state = packed<double>(&state, 1, 1, 1, 1),
                                       .out = packed<double>(&out, 1, 1, 1, 1),
                                       .scale = 0.5});
  const double kept = std::exp(g) * s;
  const double want = kept + beta * k * (v - kept * k);
  EXPECT_DOUBLE_EQ(state, want);
  EXPECT_DOUBLE_EQ(out, 0.5 * q * want);
}

TEST(LinearStrides, HeadsInsideChannels) {
  const Sizes sizes;
  Problem<float> strided(sizes, UpdateRule::linear);
  // [batch, steps, heads * values] for the output, channels backwards for the values.
  strided.args.out.strides = {sizes.steps * sizes.heads * sizes.values, sizes.values,
                              sizes.heads * sizes.values, 1};
  strided.args.v.data += sizes.values - 1;
  strided.args.v.strides[3] = -1;
  cpu::linear(strided.args);
  Problem<float> slow(sizes, UpdateRule::linear);
  slow.args.v = strided.args.v;
  reference::linear(slow.args);
  for (int b = 0; b < sizes.batch; ++b)
    for (int h = 0; h < sizes.heads; ++h)
      for (int t = 0; t < sizes.steps; ++t)
        for (int j = 0; j < sizes.values; ++j)
          EXPECT_TRUE(test::close(*strided.args.out.at(b, h, t, j),
                                  *slow.args.out.at(b, h, t, j),
                                  test::tolerance(DType::f32, 64)));
}

TEST(LinearErrors, RulesTakeWhatTheyNeedAndNoMore) {
  Problem<float> extra({}, UpdateRule::gated_delta);
  extra.args.rule = UpdateRule::linear;
  EXPECT_THROW(cpu::linear(extra.args), InvalidArgument);
  extra.args.rule = UpdateRule::gated;
  EXPECT_THROW(cpu::linear(extra.args), InvalidArgument);
  Problem<float> lacking({}, UpdateRule::linear);
  for (const UpdateRule rule : {UpdateRule::gated, UpdateRule::delta}) {
    lacking.args.rule = rule;
    EXPECT_THROW(cpu::linear(lacking.args), InvalidArgument);
    EXPECT_THROW(reference::linear(lacking.args), InvalidArgument);
  }
  Problem<float> heads({}, UpdateRule::linear);
  heads.args.q.shape[1] = 3;
  heads.args.out.shape[1] = 3;
  EXPECT_THROW(cpu::linear(heads.args), InvalidArgument);
  Problem<float> state({}, UpdateRule::linear);
  state.args.state.shape[3] += 1;
  EXPECT_THROW(cpu::linear(state.args), InvalidArgument);
}

TEST(LinearErrors, AForcedTargetThatIsNotThereThrows) {
  Problem<float> problem({}, UpdateRule::linear);
  EXPECT_THROW(cpu::linear(problem.args, {.target = Target::native}), Unsupported);
}

}  // namespace
}  // namespace attn
