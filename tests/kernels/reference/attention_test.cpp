#include "attn/kernels/reference/attention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "kernels/support/inputs.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/run.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

using test::difference;

TEST(Reference, ForwardIsTheFormula) {
  test::Random random("formula");
  const std::vector<double> q = random.numbers(2), k = random.numbers(6), v = random.numbers(3);
  std::vector<double> out(1), stat(1);
  Recipe recipe;
  recipe.scale = 0.5f;
  const ForwardArgs<double> args{.q = packed<const double>(q.data(), 1, 1, 1, 2),
                                 .k = packed<const double>(k.data(), 1, 1, 3, 2),
                                 .v = packed<const double>(v.data(), 1, 1, 3, 1),
                                 .out = packed<double>(out.data(), 1, 1, 1, 1),
                                 .stat = packed<double>(stat.data(), 1, 1, 1)};
  reference::forward(args, recipe);
  double sum = 0.0, pooled = 0.0;
  for (std::size_t j = 0; j < 3; ++j) {
    const double e = std::exp(0.5 * (q[0] * k[2 * j] + q[1] * k[2 * j + 1]));
    sum += e;
    pooled += e * v[j];
  }
  EXPECT_TRUE(test::close(out[0], pooled / sum, test::tolerance(DType::f64, 3)));
  EXPECT_TRUE(test::close(stat[0], std::log(sum), test::tolerance(DType::f64, 3)));
}

/// sum(out * d_out) + sum(stat * d_stat) + what arrives at the weights.
double loss(const test::Problem& p) {
  const test::Results results = test::forward_reference(p);
  double sum = 0.0;
  for (std::size_t i = 0; i < p.d_out.size(); ++i) sum += results.out[i] * p.d_out[i];
  for (std::size_t i = 0; i < p.d_stat.size(); ++i)
    if (std::isfinite(results.stat[i])) sum += results.stat[i] * p.d_stat[i];
  if (!p.spec.d_weights) return sum;
  const std::vector<double> w = test::reference_weights(p);
  const int n = p.spec.queries, m = p.spec.keys, reach = p.distance_reach;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const std::size_t row = i / static_cast<std::size_t>(m);
    const int key = static_cast<int>(i) % m, query = static_cast<int>(row) % n;
    const std::size_t head = row / static_cast<std::size_t>(n);
    const int apart = std::clamp(key - (query + p.distance_offset), -reach, reach) + reach;
    sum += w[i] *
           (p.d_all[i] +
            p.d_columns[head * static_cast<std::size_t>(m) + static_cast<std::size_t>(key)] +
            p.d_distances[row * static_cast<std::size_t>(2 * reach + 1) +
                          static_cast<std::size_t>(apart)]);
  }
  return sum;
}

/// Central differences of the loss along every number of a list.
std::vector<double> differences(const test::Problem& p, std::vector<double>& numbers,
                                std::size_t spacing = 1) {
  std::vector<double> result;
  for (std::size_t i = 0; i < numbers.size(); i += spacing) {
    const double kept = numbers[i];
    numbers[i] = kept + test::kDifferenceStep;
    const double above = loss(p);
    numbers[i] = kept - test::kDifferenceStep;
    const double below = loss(p);
    numbers[i] = kept;
    result.push_back((above - below) / (2 * test::kDifferenceStep));
  }
  return result;
}

std::string gradients_are_differences(const test::Problem& given) {
  test::Problem p(given.spec);
  const test::Results got = test::run_reference(p);
  const double within = test::kDifferenceTolerance;
  std::string wrong = difference("dq", got.dq, differences(p, p.q), within) +
                      difference("dk", got.dk, differences(p, p.k), within) +
                      difference("dv", got.dv, differences(p, p.v), within);
  for (std::size_t t = 0; t < p.tables.size(); ++t)
    wrong += difference(
        "gradient of table " + std::to_string(t), got.tables[t],
        differences(p, p.tables[t].f64, static_cast<std::size_t>(p.tables[t].spacing)), within);
  return wrong;
}

TEST(Reference, BackwardAgreesWithFiniteDifferencesOnDrawnProblems) {
  test::check_property("differences", 120, test::Size::tiny, gradients_are_differences);
}

TEST(Reference, DropoutHasTheGradientsOfItsOwnMask) {
  test::Spec spec{.seed = "dropout differences", .queries = 4, .keys = 9};
  spec.factors = {{test::FactorKind::dropout, {}}, {test::FactorKind::scale_weight, {}}};
  spec.d_weights = true;
  test::check_spec(spec, gradients_are_differences);
}

template <class T>
std::string rounds_the_result_of_double(const test::Problem& p) {
  test::Inputs<T> narrow(p, p.spec.q_lay, p.spec.kv_lay, p.spec.out_lay);
  test::Inputs<double> wide(p, test::Lay::packed, test::Lay::packed, test::Lay::packed);
  reference::forward(narrow.forward_args(true), p.recipe);
  reference::forward(wide.forward_args(true), p.recipe);
  reference::backward(narrow.backward_args(), p.recipe);
  reference::backward(wide.backward_args(), p.recipe);
  const auto rounded = [](std::vector<double> numbers) {
    for (double& x : numbers) x = test::widen(test::narrow<T>(x));
    return numbers;
  };
  return difference("out", narrow.out.values(), rounded(wide.out.values()), 0.0) +
         difference("dq", narrow.dq.values(), rounded(wide.dq.values()), 0.0) +
         difference("dk", narrow.dk.values(), rounded(wide.dk.values()), 0.0) +
         difference("dv", narrow.dv.values(), rounded(wide.dv.values()), 0.0) +
         narrow.out.damage() + narrow.dq.damage() + narrow.dk.damage() + narrow.dv.damage();
}

TEST(Reference, EveryElementTypeAndLayoutRoundsTheResultOfDouble) {
  // What arrives at weights is added up in the type of the statistics.
  const auto in = [](DType dtype) {
    return [=](test::Spec& spec) {
      spec.dtype = dtype;
      spec.d_weights = false;
    };
  };
  test::check_property("rounding", 10, test::Size::tiny, rounds_the_result_of_double<float>,
                       in(DType::f32));
  test::check_property("rounding", 10, test::Size::tiny, rounds_the_result_of_double<BFloat16>,
                       in(DType::bf16));
  test::check_property("rounding", 10, test::Size::tiny, rounds_the_result_of_double<Float16>,
                       in(DType::f16));
}

TEST(Reference, ScoresAreThoseAfterTheModifiersAskedFor) {
  test::Spec spec{.seed = "scores"};
  spec.scores = {{test::ScoreKind::scale, {}}, {test::ScoreKind::soft_cap, {}}};
  spec.masks = {{.leaf = test::MaskKind::causal}};
  const test::Problem p(spec);
  test::Inputs<double> inputs(p, test::Lay::packed, test::Lay::packed, test::Lay::packed);
  test::Strided<double> raw(p.weights_shape(), test::Lay::packed), scaled = raw, capped = raw;
  const auto args = inputs.forward_args(false);
  reference::scores(args, p.recipe, 0, false, raw.view());
  reference::scores(args, p.recipe, 1, false, scaled.view());
  reference::scores(args, p.recipe, 2, true, capped.view());
  for (std::size_t i = 0; i < raw.values().size(); ++i) {
    const double s = static_cast<double>(0.6f) * raw.values()[i];
    const bool kept = static_cast<int>(i) % 5 <= static_cast<int>(i) / 5 + 1;
    EXPECT_TRUE(test::close(scaled.values()[i], s, test::tolerance(DType::f64)));
    EXPECT_TRUE(test::close(capped.values()[i], kept ? 2.5 * std::tanh(s / 2.5) : -INFINITY,
                            test::tolerance(DType::f64)));
  }
}

}  // namespace
}  // namespace attn
