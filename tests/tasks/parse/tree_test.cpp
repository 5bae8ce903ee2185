// The best tree is the best of all trees, tried one by one.

#include "tasks/parse/tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "attn/core/error.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn::tasks::parse {
namespace {

using Heads = std::vector<std::int64_t>;

double total(const std::vector<float>& scores, const Heads& heads) {
  double sum = 0.0;
  for (std::size_t i = 0; i < heads.size(); ++i)
    sum += double{scores[i * (heads.size() + 1) + static_cast<std::size_t>(heads[i])]};
  return sum;
}

/// The largest sum over all heads that make a tree.
double best_total(const std::vector<float>& scores, std::int64_t words) {
  Heads heads(static_cast<std::size_t>(words), 0);
  double best = -std::numeric_limits<double>::infinity();
  for (;;) {
    if (is_tree(heads)) best = std::max(best, total(scores, heads));
    std::size_t at = 0;
    while (at < heads.size() && heads[at] == words) heads[at++] = 0;
    if (at == heads.size()) return best;
    ++heads[at];
  }
}

TEST(IsTree, KnowsCyclesAndRoots) {
  EXPECT_TRUE(is_tree(Heads{0}));
  EXPECT_TRUE(is_tree(Heads{2, 0, 2}));
  EXPECT_FALSE(is_tree(Heads{2, 1, 0}));
  EXPECT_FALSE(is_tree(Heads{0, 0}));
  EXPECT_FALSE(is_tree(Heads{1}));
  EXPECT_FALSE(is_tree(Heads{0, 7}));
  EXPECT_FALSE(is_tree(Heads{}));
}

TEST(BestTree, IsTheBestOfAll) {
  test::Random random("trees");
  for (std::int64_t words = 1; words <= 5; ++words)
    for (int trial = 0; trial < 60; ++trial) {
      std::vector<float> scores;
      for (std::int64_t i = 0; i < words * (words + 1); ++i)
        scores.push_back(static_cast<float>(random.whole(-40, 0)));
      const Heads heads = best_tree(scores, words);
      ASSERT_TRUE(is_tree(heads)) << words << " words";
      EXPECT_NEAR(total(scores, heads), best_total(scores, words), test::kFloat);
    }
}

TEST(BestTree, TakesLongSentencesAndRefusesOthers) {
  test::Random random("long");
  std::vector<float> scores;
  for (int i = 0; i < 256 * 257; ++i)
    scores.push_back(static_cast<float>(random.whole(-1000, 0)) / 50.0f);
  EXPECT_TRUE(is_tree(best_tree(scores, 256)));
  EXPECT_THROW(best_tree(scores, 255), InvalidArgument);
  EXPECT_THROW(best_tree({}, 0), InvalidArgument);
}

}  // namespace
}  // namespace attn::tasks::parse
