// A chain of modifiers equals them one after another, with all their tables.

#include "attn/score/chain.hpp"

#include <gtest/gtest.h>

#include "attn/score/alibi.hpp"
#include "attn/score/bias.hpp"
#include "attn/score/gaussian.hpp"
#include "attn/score/lambda.hpp"
#include "attn/score/scale.hpp"
#include "attn/score/soft_cap.hpp"
#include "support/score_laws.hpp"

namespace attn {
namespace {

using test::kBatches, test::kHeads, test::kKeys, test::kQueries;

TEST(Chain, AppliesItsLinksInOrder) {
  const auto both = score::chain(score::Scale{3.0f}, score::SoftCap{2.0f});
  EXPECT_EQ(both.forward(0.7, Site<double>{}, Params<double>{}),
            2.0 * std::tanh(0.7 * 3.0f / 2.0));
}

TEST(Chain, OfNothingChangesNothing) {
  EXPECT_EQ(score::chain().forward(0.7, Site<double>{}), 0.7);
}

TEST(Chain, LinksReadTheirTablesOneAfterAnother) {
  const double slope = 0.5, scale = 10.0;
  const std::vector<Table> tables{table(&slope, {1, 1, 1, 1}), table(&scale, {1, 1, 1, 1})};
  const auto links = score::chain(score::Scale{1.0f}, score::Alibi{}, score::LearnedScale{});
  static_assert(decltype(links)::kTables == 2);
  EXPECT_EQ(links.forward(4.0, Site<double>{0, 0, 0, 2}, Params<double>{tables.data()}), 30.0);
}

TEST(Chain, BackwardMatchesDifferences) {
  test::Random random("Chain");
  const auto middle =
      score::lambda<1>([](auto s, auto, const auto& p) { return s * s * p.value(0) + s; });
  test::expect_backward_matches_differences(
      score::chain(score::Scale{0.5f}, score::Gaussian{2.0f}, middle, score::SoftCap{3.0f},
                   score::LearnedScale{}, score::Bias{}),
      {{{kBatches, kHeads, kQueries, 1}, random, 0.0, 6.0},
       {{1, kHeads, 1, 1}, random},
       {{1, 1, 1, 1}, random},
       {{1, kHeads, kQueries, kKeys}, random}});
}

TEST(Chain, OfChainsIsAChain) {
  test::Random random("Chain of chains");
  const auto inner = score::chain(score::Alibi{}, score::SoftCap{2.0f});
  test::expect_backward_matches_differences(
      score::chain(inner, score::LearnedScale{}, inner),
      {{{1, kHeads, 1, 1}, random}, {{1, 1, 1, 1}, random}, {{1, 1, 1, 1}, random}});
}

}  // namespace
}  // namespace attn
