// Weights and scores on demand agree with the reference.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/reference/attention.hpp"
#include "kernels/support/inputs.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/run.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

using test::difference;
using test::Lay;

/// The weights and the scores after every stage are the reference's, for one element type.
template <class T>
std::string shows_what_the_reference_has(const test::Problem& p) {
  test::Inputs<T> inputs(p, p.spec.q_lay, p.spec.kv_lay, p.spec.out_lay);
  test::Inputs<double> exact(p, Lay::packed, Lay::packed, Lay::packed);
  const Recipe recipe = p.exact();
  const double within = test::tolerance(DType::f32, std::max(1, p.spec.keys));
  std::string wrong;
  for (const Target target : test::targets()) {
    test::Strided<float> got(p.weights_shape(), p.spec.out_lay);
    test::Strided<double> want(p.weights_shape(), Lay::packed);
    const cpu::Context context{.threads = 2, .target = target};
    cpu::weights(inputs.forward_args(false), p.recipe, got.view(), context);
    wrong +=
        difference("weights", got.values(), test::reference_weights(p), within) + got.damage();
    for (int m = 0; m <= static_cast<int>(p.recipe.scores.size()); ++m)
      for (const bool masked : {false, true}) {
        cpu::scores(inputs.forward_args(false), p.recipe, m, masked, got.view(), context);
        reference::scores(exact.forward_args(false), recipe, m, masked, want.view());
        wrong += difference("scores after " + std::to_string(m) + " modifiers", got.values(),
                            want.values(), within);
      }
  }
  return wrong;
}

TEST(Inspect, WeightsAndScoresAreTheReferences) {
  const auto in = [](DType dtype) { return [=](test::Spec& spec) { spec.dtype = dtype; }; };
  test::check_property("inspect f32", 40, test::Size::mixed,
                       shows_what_the_reference_has<float>, in(DType::f32));
  test::check_property("inspect bf16", 10, test::Size::mixed,
                       shows_what_the_reference_has<BFloat16>, in(DType::bf16));
  test::check_property("inspect f16", 10, test::Size::mixed,
                       shows_what_the_reference_has<Float16>, in(DType::f16));
}

/// A problem with masked keys and empty rows, and all its weights.
struct Fixture {
  test::Problem p;
  test::Inputs<float> inputs;
  std::vector<double> w;
  int n = p.spec.queries, m = p.spec.keys, h = p.spec.heads();

  static test::Spec spec() {
    return {.seed = "inspect",
            .batch = 2,
            .kv_heads = 2,
            .group = 2,
            .queries = 31,
            .keys = 270,
            .masks = {{.leaf = test::MaskKind::query_lengths}}};
  }
  Fixture() : p(spec()), inputs(p, Lay::packed, Lay::packed, Lay::packed), w(weights()) {}
  std::vector<double> weights() {
    test::Strided<float> all(p.weights_shape(), Lay::packed);
    cpu::weights(inputs.forward_args(false), p.recipe, all.view());
    return all.values();
  }
  void inspect(const Inspection<float>& wanted) {
    cpu::inspect(inputs.forward_args(false), p.recipe, wanted, {.threads = 2});
  }
  double at(std::size_t row, int j) const {
    return w[row * static_cast<std::size_t>(m) + static_cast<std::size_t>(j)];
  }
  std::size_t rows() const { return static_cast<std::size_t>(2 * h * n); }
};

TEST(Inspect, ChosenRowsAreRowsOfAll) {
  Fixture f;
  const std::array<int, 2> heads{3, 0};
  const std::array<int, 3> queries{30, 4, 4};
  std::vector<float> chosen(2 * 2 * 3 * 270, 7.0f);
  f.inspect({.chosen_heads = heads,
             .chosen_queries = queries,
             .chosen = packed<float>(chosen.data(), 2, 2, 3, 270)});
  for (int b = 0; b < 2; ++b)
    for (std::size_t h = 0; h < 2; ++h)
      for (std::size_t i = 0; i < 3; ++i)
        for (int j = 0; j < 270; ++j) {
          const auto row = static_cast<std::size_t>((b * 4 + heads[h]) * 31 + queries[i]);
          const std::size_t to = (static_cast<std::size_t>(b) * 2 + h) * 3 + i;
          ASSERT_EQ(static_cast<double>(chosen[to * 270 + static_cast<std::size_t>(j)]),
                    f.at(row, j));
        }
}

TEST(Inspect, TheTopAreTheLargestInOrder) {
  Fixture f;
  constexpr std::size_t kTop = 9;
  std::vector<std::int64_t> keys(f.rows() * kTop, 77), best(f.rows(), 77);
  std::vector<float> top(keys.size(), 7.0f);
  f.inspect({.top_keys = packed<std::int64_t>(keys.data(), 2, 4, 31, kTop),
             .top_weights = packed<float>(top.data(), 2, 4, 31, kTop),
             .arg_max = packed<std::int64_t>(best.data(), 2, 4, 31)});
  for (std::size_t row = 0; row < f.rows(); ++row) {
    std::vector<int> order(270);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return f.at(row, a) > f.at(row, b); });
    EXPECT_EQ(best[row], f.at(row, order[0]) > 0.0 ? order[0] : -1);
    for (std::size_t i = 0; i < kTop; ++i) {
      const bool there = f.at(row, order[i]) > 0.0;
      ASSERT_EQ(keys[row * kTop + i], there ? order[i] : -1) << "row " << row;
      ASSERT_EQ(static_cast<double>(top[row * kTop + i]), there ? f.at(row, order[i]) : 0.0);
    }
  }
}

TEST(Inspect, SumsAddUpColumnsAndDistances) {
  Fixture f;
  constexpr int kReach = 6, kOffset = 2;
  std::vector<float> columns(2 * 4 * 270, 7.0f), distances(f.rows() * 13, 7.0f);
  f.inspect({.column_sums = packed<float>(columns.data(), 2, 4, 270),
             .distance_sums = packed<float>(distances.data(), 2, 4, 31, 2 * kReach + 1),
             .distance_offset = kOffset});
  std::vector<double> want_columns(columns.size()), want_distances(distances.size());
  for (std::size_t row = 0; row < f.rows(); ++row)
    for (int j = 0; j < 270; ++j) {
      const int query = static_cast<int>(row) % 31;
      const int apart = std::clamp(j - (query + kOffset), -kReach, kReach) + kReach;
      want_columns[row / 31 * 270 + static_cast<std::size_t>(j)] += f.at(row, j);
      want_distances[row * 13 + static_cast<std::size_t>(apart)] += f.at(row, j);
    }
  const double within = test::tolerance(DType::f32, 270);
  EXPECT_EQ(test::difference("columns", {columns.begin(), columns.end()}, want_columns, within),
            "");
  EXPECT_EQ(test::difference("distances", {distances.begin(), distances.end()}, want_distances,
                             within),
            "");
}

TEST(Inspect, NeedsNoOutput) {
  Fixture f;
  ForwardArgs<float> args = f.inputs.forward_args(false);
  args.out = {};
  std::vector<float> columns(2 * 4 * 270);
  EXPECT_NO_THROW(cpu::inspect(args, f.p.recipe,
                               {.column_sums = packed<float>(columns.data(), 2, 4, 270)}));
}

/// The message of what an inspection throws.
std::string refusal(Fixture& f, const Inspection<float>& wanted) {
  try {
    f.inspect(wanted);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Inspect, RefusesShapesThatDoNotFit) {
  Fixture f;
  std::vector<float> x(1 << 20);
  std::vector<std::int64_t> keys(1 << 16);
  const std::array<int, 1> wrong{4}, right{0}, query{31};
  const auto names = [](const std::string& message, const std::string& part) {
    return message.find("attn::cpu::inspect") == 0 && message.find(part) != std::string::npos;
  };
  EXPECT_TRUE(names(refusal(f, {.all = packed<float>(x.data(), 2, 4, 31, 269)}),
                    "all has extent 269 on axis 3; expected 270"));
  EXPECT_TRUE(names(refusal(f, {.column_sums = packed<float>(x.data(), 2, 3, 270)}),
                    "column_sums has extent 3 on axis 1; expected 4"));
  EXPECT_TRUE(names(refusal(f, {.distance_sums = packed<float>(x.data(), 2, 4, 31, 4)}),
                    "expected an odd number"));
  EXPECT_TRUE(names(refusal(f, {.arg_max = packed<std::int64_t>(keys.data(), 1, 4, 31)}),
                    "arg_max has extent 1 on axis 0; expected 2"));
  EXPECT_TRUE(names(refusal(f, {.top_keys = packed<std::int64_t>(keys.data(), 2, 4, 31, 3),
                                .top_weights = packed<float>(x.data(), 2, 4, 31, 2)}),
                    "top_weights has extent 2 on axis 3; expected 3"));
  EXPECT_TRUE(names(refusal(f, {.chosen_heads = wrong,
                                .chosen_queries = right,
                                .chosen = packed<float>(x.data(), 2, 1, 1, 270)}),
                    "head 4 was chosen; there are heads 0..3"));
  EXPECT_TRUE(names(refusal(f, {.chosen_heads = right,
                                .chosen_queries = query,
                                .chosen = packed<float>(x.data(), 2, 1, 1, 270)}),
                    "query 31 was chosen; there are queries 0..30"));
  EXPECT_THROW(cpu::scores(f.inputs.forward_args(false), f.p.recipe, 1, true,
                           packed<float>(x.data(), 2, 4, 31, 270)),
               InvalidArgument);
}

}  // namespace
}  // namespace attn
