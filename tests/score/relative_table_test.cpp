// Relative tables are read by clipped distance, in every sharing, with gradients.

#include "attn/score/relative_table.hpp"

#include <gtest/gtest.h>

#include "support/score_laws.hpp"

namespace attn {
namespace {

TEST(RelativeTable, ReadsKeyMinusQueryAndClipsAtTheReach) {
  const std::vector<double> entries{10, 20, 30, 40, 50};
  const Table t = table(entries.data(), {1, 1, 1, 5});
  const Params<double> p{&t};
  const score::RelativeTable relative{.reach = 2, .offset = 1};
  EXPECT_EQ(relative.forward(0.0, Site<double>{0, 0, 3, 4}, p), 30.0);  // distance 0
  EXPECT_EQ(relative.forward(0.0, Site<double>{0, 0, 3, 5}, p), 40.0);  // the next key
  EXPECT_EQ(relative.forward(0.0, Site<double>{0, 0, 3, 9}, p), 50.0);
  EXPECT_EQ(relative.forward(0.0, Site<double>{0, 0, 3, 0}, p), 10.0);
}

TEST(RelativeTable, BackwardMatchesDifferencesSharedPerHeadAndPerQuery) {
  test::Random random("RelativeTable");
  const score::RelativeTable relative{.reach = 2, .offset = -1};
  test::expect_backward_matches_differences(relative, {{{1, 1, 1, 5}, random}});
  test::expect_backward_matches_differences(relative, {{{1, test::kHeads, 1, 5}, random}});
  test::expect_backward_matches_differences(
      relative, {{{test::kBatches, test::kHeads, test::kQueries, 5}, random}});
}

}  // namespace
}  // namespace attn
