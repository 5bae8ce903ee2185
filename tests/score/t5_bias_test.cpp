// T5's buckets and the gradient of their table.

#include "attn/score/t5_bias.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "attn/score/t5_buckets.hpp"
#include "support/score_laws.hpp"

namespace attn {
namespace {

using score::T5Direction;

TEST(T5Buckets, NearDistancesHaveTheirOwn) {
  for (int r = 0; r < 8; ++r) {
    EXPECT_EQ(score::t5_bucket(-r, 32, 128, T5Direction::both), r);
    EXPECT_EQ(score::t5_bucket(r, 32, 128, T5Direction::both), r == 0 ? 0 : 16 + r);
  }
  for (int r = 0; r < 16; ++r) {
    EXPECT_EQ(score::t5_bucket(-r, 32, 128, T5Direction::past), r);
    EXPECT_EQ(score::t5_bucket(r, 32, 128, T5Direction::past), 0);
  }
}

TEST(T5Buckets, TheFloorHoldsAtExactPowers) {
  // log(r / 8) / log(16) * 8 = 2 log2(r / 8): whole at r = 16, 32, 64.
  EXPECT_EQ(score::t5_bucket(-15, 32, 128, T5Direction::both), 9);
  EXPECT_EQ(score::t5_bucket(-16, 32, 128, T5Direction::both), 10);
  EXPECT_EQ(score::t5_bucket(-31, 32, 128, T5Direction::both), 11);
  EXPECT_EQ(score::t5_bucket(-32, 32, 128, T5Direction::both), 12);
  EXPECT_EQ(score::t5_bucket(-63, 32, 128, T5Direction::both), 13);
  EXPECT_EQ(score::t5_bucket(-64, 32, 128, T5Direction::both), 14);
  EXPECT_EQ(score::t5_bucket(-128, 32, 128, T5Direction::both), 15);
  EXPECT_EQ(score::t5_bucket(-100000, 32, 128, T5Direction::both), 15);
}

TEST(T5Buckets, NeverFallWithTheDistanceAndStayPastTheMaximum) {
  for (const int buckets : {4, 6, 16, 32}) {
    int last = 0;
    for (int r = 0; r < 300; ++r) {
      const int bucket = score::t5_bucket(-r, buckets, 128, T5Direction::past);
      EXPECT_GE(bucket, last);
      EXPECT_LT(bucket, buckets);
      last = bucket;
    }
    EXPECT_EQ(last, buckets - 1);
  }
}

TEST(T5Buckets, TooFewAreRefused) {
  EXPECT_THROW(score::t5_bucket(1, 2, 128, T5Direction::both), InvalidArgument);
  EXPECT_THROW(score::t5_bucket(1, 1, 128, T5Direction::past), InvalidArgument);
  EXPECT_THROW(score::t5_bucket(1, 32, 8, T5Direction::both), InvalidArgument);
}

TEST(T5Bias, LooksUpTheBucketOfEveryDistance) {
  std::vector<int> buckets(2 * 20 + 1);
  score::fill_t5_buckets(buckets.data(), 8, 20, T5Direction::both);
  const score::T5Bias bias{.buckets = buckets.data(), .reach = 20, .offset = 3};
  for (const int k : {0, 7, 8, 9, 30, 400})
    EXPECT_EQ(bias.bucket(Site<double>{0, 0, 5, k}),
              score::t5_bucket(k - 8, 8, 20, T5Direction::both));
}

TEST(T5Bias, BackwardMatchesDifferences) {
  test::Random random("T5Bias");
  std::vector<int> buckets(2 * 5 + 1);
  score::fill_t5_buckets(buckets.data(), 8, 5, T5Direction::both);
  test::expect_backward_matches_differences(score::T5Bias{buckets.data(), 5, 1},
                                            {{{1, test::kHeads, 1, 8}, random}});
}

}  // namespace
}  // namespace attn
