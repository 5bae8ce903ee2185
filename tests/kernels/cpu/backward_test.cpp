// Which gradients the backward writes, and that one not wanted changes no other.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "attn/kernels/cpu/attention.hpp"
#include "kernels/support/inputs.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/run.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

using test::Lay;

TEST(Backward, AGradientThatIsNotWantedChangesNoOther) {
  for (int similarity = 0; similarity < 4; ++similarity) {
    const test::Problem p({.seed = "wanted",
                           .batch = 2,
                           .kv_heads = 2,
                           .group = 2,
                           .queries = 99,
                           .keys = 140,
                           .channels = 7,
                           .value_channels = 5,
                           .similarity = static_cast<Similarity>(similarity),
                           .width = test::WidthKind::channel});
    const test::Results all = test::run_cpu(p);
    for (int wanted = 0; wanted < 8; ++wanted) {
      test::Inputs<float> inputs(p, Lay::packed, Lay::packed, Lay::packed);
      cpu::forward(inputs.forward_args(true), p.recipe);
      BackwardArgs<float> args = inputs.backward_args();
      if ((wanted & 1) == 0) args.dq = {};
      if ((wanted & 2) == 0) args.dk = {};
      if ((wanted & 4) == 0) args.dv = {};
      cpu::backward(args, p.recipe);
      if ((wanted & 1) != 0) {
        EXPECT_EQ(inputs.dq.values(), all.dq) << "similarity " << similarity;
      }
      if ((wanted & 2) != 0) {
        EXPECT_EQ(inputs.dk.values(), all.dk) << "similarity " << similarity;
      }
      if ((wanted & 4) != 0) {
        EXPECT_EQ(inputs.dv.values(), all.dv) << "similarity " << similarity;
      }
    }
  }
}

TEST(Backward, TablesAloneCanBeAskedFor) {
  for (int similarity = 0; similarity < 4; ++similarity) {
    test::Spec spec{.seed = "tables alone",
                    .kv_heads = 2,
                    .queries = 99,
                    .keys = 140,
                    .channels = 7,
                    .similarity = static_cast<Similarity>(similarity),
                    .width = test::WidthKind::channel};
    spec.scores = {{test::ScoreKind::bias, test::Sharing::query_only}};
    const test::Problem p(spec);
    const test::Results all = test::run_cpu(p);
    test::Inputs<float> inputs(p, Lay::packed, Lay::packed, Lay::packed);
    cpu::forward(inputs.forward_args(true), p.recipe);
    BackwardArgs<float> args = inputs.backward_args();
    args.dq = {};
    args.dk = {};
    args.dv = {};
    RecipeGrads grads;
    std::vector<std::vector<float>> got;
    for (const test::TestTable& table : p.tables) got.emplace_back(table.f32.size());
    grads.scores.resize(1);
    for (std::size_t t = 0; t < p.tables.size(); ++t) {
      const bool own = p.tables[t].place.stage == test::TablePlace::Stage::similarity;
      (own ? grads.weights : grads.scores[0][0]) = p.tables[t].grad(got[t].data(), DType::f32);
    }
    cpu::backward(args, p.recipe, grads);
    for (std::size_t t = 0; t < p.tables.size(); ++t)
      EXPECT_EQ(std::vector<double>(got[t].begin(), got[t].end()), all.tables[t])
          << "similarity " << similarity << ", table " << t;
  }
}

TEST(Backward, TablesOfNoQueriesAreNotWritten) {
  test::Spec spec{.seed = "no queries", .queries = 0, .keys = 9};
  spec.scores = {{test::ScoreKind::bias, test::Sharing::query_only}};
  const test::Problem p(spec);
  for (const Target target : test::targets()) {
    test::Inputs<float> inputs(p, Lay::packed, Lay::packed, Lay::packed);
    std::vector<float> beside(16, -0.0f);  // adding zero would change the sign
    RecipeGrads grads;
    grads.scores.resize(1);
    grads.scores[0][0] = p.tables[0].grad(beside.data(), DType::f32);
    cpu::backward(inputs.backward_args(), p.recipe, grads, {.target = target});
    for (const float x : beside) EXPECT_TRUE(std::signbit(x)) << name_of(target);
  }
}

TEST(Backward, WhatArrivesAtTheWeightsComesOneByOneOrTogether) {
  test::Spec spec{.seed = "arriving", .kv_heads = 2, .queries = 40, .keys = 140, .channels = 7};
  spec.d_weights = true;
  const test::Problem p(spec);
  const test::Results together = test::run_cpu(p);
  std::vector<double> dq_sum(p.q.size());
  // Gradients are linear in what arrives: none + (all - none) + (columns - none) + ...
  for (int part = -1; part < 3; ++part) {
    test::Inputs<float> inputs(p, Lay::packed, Lay::packed, Lay::packed);
    cpu::forward(inputs.forward_args(true), p.recipe);
    BackwardArgs<float> args = inputs.backward_args();
    if (part != 0) args.d_weights.all = {};
    if (part != 1) args.d_weights.column_sums = {};
    if (part != 2) args.d_weights.distance_sums = {};
    cpu::backward(args, p.recipe);
    const std::vector<double> dq = inputs.dq.values();
    for (std::size_t i = 0; i < dq.size(); ++i) dq_sum[i] += part < 0 ? -2.0 * dq[i] : dq[i];
  }
  EXPECT_EQ(test::difference("dq", dq_sum, together.dq, test::tolerance(DType::f32, 140)), "");
}

}  // namespace
}  // namespace attn
