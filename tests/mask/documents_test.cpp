// Packed documents do not see each other, sorted or not.

#include "attn/mask/documents.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/mask_laws.hpp"
#include "support/random.hpp"

namespace attn {
namespace {

TEST(Documents, CoverAgreesWithKeepOnEveryTileOfSortedNumbers) {
  // The second sequence has documents without keys and keys without queries.
  const std::vector<int> queries{0, 0, 1, 1, 2, 2, 0, 3, 3, 5, 5, 9};
  const std::vector<int> keys{0, 0, 0, 1, 2, 2, 2, 1, 1, 3, 4, 4, 9, 9};
  test::expect_cover_agrees(mask::Documents{queries.data(), keys.data(), 6, 7}, 6, 7);
}

TEST(Documents, CoverIsSafeForUnsortedNumbers) {
  test::Random random("Documents");
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<int> queries(10), keys(12);
    for (int& id : queries) id = random.whole(0, 3);
    for (int& id : keys) id = random.whole(0, 3);
    test::expect_cover_agrees(mask::Documents{queries.data(), keys.data(), 5, 6}, 5, 6,
                              test::Answers::safe);
  }
}

}  // namespace
}  // namespace attn
