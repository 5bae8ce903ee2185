// Hard choices: the first maximum, and samples that follow the softmax.

#include "attn/normalise/hard.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/normaliser_laws.hpp"

namespace attn {
namespace {

using normalise::HardMax, normalise::HardSample;

TEST(HardMax, TheFirstMaximumWins) {
  const std::vector<double> s{-INFINITY, 1.0, 3.0, 3.0, 2.0};
  EXPECT_EQ(HardMax{}.solve(s.data(), 5, Site<double>{0, 0, 0, 10}), 12.0);
  EXPECT_EQ(test::weights_of(HardMax{}, s), (std::vector<double>{0, 0, 1, 0, 0}));
  EXPECT_EQ(HardMax{}.final_slope(3.0, 1.0, 2.0, Site<double>{0, 0, 0, 2}), 0.0);
}

TEST(HardMax, ARowWithoutKeysChoosesNone) {
  const std::vector<double> s{-INFINITY, -INFINITY};
  EXPECT_EQ(HardMax{}.solve(s.data(), 2, Site<double>{}), -1.0);
  EXPECT_EQ(HardMax{}.solve(s.data(), 0, Site<double>{}), -1.0);
  EXPECT_EQ(HardSample{7}.solve(s.data(), 2, Site<double>{}), -1.0);
  test::expect_empty_rows_are_zero(HardMax{});
  test::expect_empty_rows_are_zero(HardSample{7});
}

TEST(HardSample, TheSameSeedAndPlaceDrawTheSameKey) {
  const std::vector<double> s(20, 0.0);
  const Site<double> at{1, 2, 3, 0};
  EXPECT_EQ(HardSample{5}.solve(s.data(), 20, at), HardSample{5}.solve(s.data(), 20, at));
  int different = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    different += HardSample{seed}.solve(s.data(), 20, at) !=
                 HardSample{seed + 100}.solve(s.data(), 20, at);
  EXPECT_GT(different, 10);
}

TEST(HardSample, DrawsWithTheProbabilitiesOfSoftmax) {
  const std::vector<double> s{std::log(0.1), -INFINITY, std::log(0.6), std::log(0.3)};
  constexpr int kDraws = 20000;
  std::vector<int> counts(4);
  for (int q = 0; q < kDraws; ++q)
    ++counts[static_cast<std::size_t>(
        HardSample{42}.solve(s.data(), 4, Site<double>{0, 0, q, 0}))];
  EXPECT_EQ(counts[1], 0);
  for (const std::size_t k : {0u, 2u, 3u}) {
    const double want = std::exp(s[k]);
    const double five_sigma = 5 * std::sqrt(want * (1 - want) / kDraws);
    EXPECT_NEAR(counts[k] / double{kDraws}, want, five_sigma) << "key " << k;
  }
}

}  // namespace
}  // namespace attn
