// Dropout of weights: its rate, its scale, and the same draws in forward and backward.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/normalise/dropout.hpp"
#include "kernels/support/inputs.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/run.hpp"

namespace attn {
namespace {

test::Spec spec_of(int queries) {
  return {.seed = "dropout", .batch = 2, .kv_heads = 2, .queries = queries, .keys = 301};
}

TEST(AttentionDropout, RateZeroChangesNothing) {
  for (const int queries : {3, 50}) {
    const test::Problem without(spec_of(queries));
    test::Problem with(spec_of(queries));
    with.recipe.weight_modifiers.push_back(weight_stage(normalise::Dropout{5, 0.0f}));
    EXPECT_TRUE(test::run_cpu(with) == test::run_cpu(without)) << queries << " queries";
  }
}

TEST(AttentionDropout, RateOneDropsAll) {
  for (const int queries : {3, 50}) {
    test::Problem p(spec_of(queries));
    p.recipe.weight_modifiers.push_back(weight_stage(normalise::Dropout{5, 1.0f}));
    const test::Results r = test::run_cpu(p);
    for (const auto* numbers : {&r.out, &r.dq, &r.dk, &r.dv})
      for (const double x : *numbers) ASSERT_EQ(x, 0.0);
  }
}

TEST(AttentionDropout, KeepsTheFractionItSaysAndScalesWhatItKeeps) {
  test::Problem p(spec_of(50));
  test::Inputs<float> inputs(p, test::Lay::packed, test::Lay::packed, test::Lay::packed);
  test::Strided<float> before(p.weights_shape(), test::Lay::packed), after = before;
  cpu::weights(inputs.forward_args(false), p.recipe, before.view());
  p.recipe.weight_modifiers.push_back(weight_stage(normalise::Dropout{5, 0.3f}));
  cpu::weights(inputs.forward_args(false), p.recipe, after.view());
  const std::vector<double> full = before.values(), dropped = after.values();
  double kept = 0.0;
  for (std::size_t i = 0; i < full.size(); ++i) {
    if (dropped[i] == 0.0) continue;
    kept += 1.0;
    ASSERT_NEAR(dropped[i], full[i] / 0.7, 1e-6 * full[i]);
  }
  // 60200 draws: four standard deviations are 0.0075.
  EXPECT_NEAR(kept / static_cast<double>(full.size()), 0.7, 0.0075);
}

TEST(AttentionDropout, ForwardAndBackwardDropTheSameOnEveryPathAndTarget) {
  // dv is the transposed weights times d_out: with d_out = 1 at one query, the row's weights.
  for (const Target target : test::targets())
    for (const int queries : {2, 50}) {
      test::Problem p(spec_of(queries));
      p.recipe.weight_modifiers.push_back(weight_stage(normalise::Dropout{11, 0.5f}));
      for (std::size_t i = 0; i < p.d_out.size(); ++i)
        p.d_out[i] = i / 2 % static_cast<std::size_t>(queries) == 1 ? 1.0 : 0.0;
      const test::Results r = test::run_cpu(p, {.target = target});
      const std::vector<double> w = test::reference_weights(p);
      for (std::size_t unit = 0; unit < 4; ++unit)
        for (std::size_t j = 0; j < 301; ++j) {
          const double weight = w[(unit * static_cast<std::size_t>(queries) + 1) * 301 + j];
          ASSERT_EQ(r.dv[(unit * 301 + j) * 2] == 0.0, weight == 0.0)
              << name_of(target) << ", key " << j;
        }
    }
}

}  // namespace
}  // namespace attn
