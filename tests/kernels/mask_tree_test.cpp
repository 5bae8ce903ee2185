// Mask expressions: what they keep of a pair and of a block.

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>

#include "attn/kernels/recipe.hpp"
#include "kernels/support/problem.hpp"

namespace attn {
namespace {

/// What cover() says of a block agrees with keeps() on its pairs; `some` is always safe.
std::string cover_agrees(const test::Problem& p) {
  const std::span<const MaskTree> masks(p.recipe.masks);
  for (int q = 0; q < p.spec.queries; q += 2)
    for (int k = 0; k < p.spec.keys; k += 3) {
      const Block block{p.spec.batch - 1,
                        p.spec.heads() - 1,
                        {q, std::min(q + 2, p.spec.queries)},
                        {k, std::min(k + 3, p.spec.keys)}};
      int kept = 0, pairs = 0;
      for (int i = block.q.begin; i < block.q.end; ++i)
        for (int j = block.k.begin; j < block.k.end; ++j, ++pairs)
          kept += keeps(masks, Site<double>{block.batch, block.head, i, j}) ? 1 : 0;
      const Cover said = cover(masks, block);
      if ((said == Cover::none && kept > 0) || (said == Cover::all && kept < pairs))
        return "cover is wrong of the block at " + std::to_string(q) + ", " + std::to_string(k);
    }
  return "";
}

TEST(MaskTree, CoverAgreesWithKeepsOnDrawnExpressions) {
  test::check_property("mask trees", 300, test::Size::tiny, cover_agrees, [](test::Spec& spec) {
    spec.queries = 6;
    spec.keys = 9;
  });
}

TEST(MaskTree, JoinsOfNothingKeepWhatLogicSays) {
  const Site<double> at{};
  const Block block{0, 0, {0, 1}, {0, 1}};
  const MaskTree all{MaskTree::Kind::all_of, {}, {}}, any{MaskTree::Kind::any_of, {}, {}},
      none{MaskTree::Kind::none_of, {}, {}};
  EXPECT_TRUE(keeps(all, at));
  EXPECT_FALSE(keeps(any, at));
  EXPECT_TRUE(keeps(none, at));
  EXPECT_EQ(cover(all, block), Cover::all);
  EXPECT_EQ(cover(any, block), Cover::none);
  EXPECT_EQ(cover(none, block), Cover::all);
}

}  // namespace
}  // namespace attn
