// Short heads: one tile holds all scores, inputs are read and gradients written where they lie.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "kernels/cpu/tiles.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/run.hpp"

namespace attn {
namespace {

std::string agrees_on_every_target(const test::Problem& problem) {
  const test::Results want = test::run_reference(problem);
  std::string wrong;
  for (const Target target : test::targets()) {
    const std::string off =
        test::difference(problem, test::run_cpu(problem, {.target = target}), want);
    if (!off.empty()) wrong += std::string(name_of(target)) + ": " + off;
  }
  return wrong;
}

/// Sizes up to a little more than what counts as short, channels in whole vectors.
void make_short(test::Spec& spec) {
  spec.similarity = Similarity::dot;
  spec.queries = std::min(spec.queries * 3, cpu::kShortQueries + 2);
  spec.keys = std::min(spec.keys * 3, cpu::kBackwardCols + 2);
  spec.channels = 16 * (1 + spec.channels % 4);
  spec.value_channels = 16 * (1 + spec.value_channels % 4);
  spec.dtype = DType::f32;
}

TEST(ShortHeads, AgreeWithTheReferenceWhateverTheRecipe) {
  test::check_property("short", 100, test::Size::mixed, agrees_on_every_target, make_short);
}

TEST(ShortHeads, AgreeWithTheReferenceOnAPlainRecipe) {
  test::check_property("short and plain", 60, test::Size::mixed, agrees_on_every_target,
                       [](test::Spec& spec) {
                         make_short(spec);
                         spec.scores.clear();
                         spec.factors.clear();
                         spec.d_weights = false;
                       });
}

TEST(ShortHeads, WhatMaskedKeysHoldIsNotSeen) {
  for (int form = 0; form < 4; ++form) {
    const int group = 1 + form % 2;
    test::Spec spec{.seed = "masked keys",
                    .batch = 3,
                    .kv_heads = 2,
                    .group = group,
                    .queries = 20,
                    .keys = 40,
                    .channels = 32,
                    .value_channels = 16,
                    .keep = form >= 2};
    spec.masks = {{.leaf = test::MaskKind::lengths}};
    test::Problem clean(spec);
    const auto spoil = [&](test::Problem& p, double with) {
      const auto row = [&](std::vector<double>& list, std::size_t r, int channels) {
        std::fill_n(list.begin() + static_cast<std::ptrdiff_t>(r) * channels, channels, with);
      };
      for (int b = 0; b < spec.batch; ++b)
        for (int h = 0; h < spec.kv_heads; ++h)
          for (int j = p.numbers[0][static_cast<std::size_t>(b)]; j < spec.keys; ++j) {
            const auto r = static_cast<std::size_t>((b * spec.kv_heads + h) * spec.keys + j);
            row(p.k, r, spec.channels);
            row(p.v, r, spec.value_channels);
          }
    };
    spoil(clean, 0.0);
    for (const double garbage : {double{NAN}, double{INFINITY}}) {
      test::Problem dirty(spec);
      spoil(dirty, garbage);
      for (const Target target : test::targets())
        EXPECT_EQ(test::difference(clean, test::run_cpu(dirty, {.target = target}),
                                   test::run_cpu(clean, {.target = target})),
                  "")
            << name_of(target) << ", garbage " << garbage << ", group " << group << ", keep "
            << spec.keep;
    }
  }
}

class ABadQuery : public testing::TestWithParam<bool> {};

TEST_P(ABadQuery, StaysWithItsRow) {
  const test::Spec spec{.seed = "bad query",
                        .queries = 12,
                        .keys = 24,
                        .channels = 16,
                        .value_channels = 16,
                        .keep = GetParam()};
  const test::Problem clean(spec);
  test::Problem dirty(spec);
  dirty.q[5 * 16 + 3] = NAN;
  for (const Target target : test::targets()) {
    const test::Results want = test::run_cpu(clean, {.target = target});
    const test::Results got = test::run_cpu(dirty, {.target = target});
    for (std::size_t i = 0; i < want.out.size(); ++i) {
      if (i / 16 == 5) {
        EXPECT_TRUE(std::isnan(got.out[i])) << i;
      } else {
        EXPECT_EQ(got.out[i], want.out[i]) << i;
        EXPECT_EQ(got.dq[i], want.dq[i]) << i;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(ShortHeads, ABadQuery, testing::Bool(), [](const auto& test) {
  return test.param ? "KeptSimilarities" : "MadeAgain";
});

}  // namespace
}  // namespace attn
