// Edit distance equals its definition, and error rates take the nearest variant.

#include "attn/text/metrics/edit_distance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/text/metrics/references.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn::text {
namespace {

using Units = std::vector<std::string_view>;

Units random_units(test::Random& random) {
  static constexpr std::string_view kUnits[] = {"AA", "B", "K"};
  Units units;
  for (int i = random.whole(0, 8); i > 0; --i) units.push_back(kUnits[random.whole(0, 2)]);
  return units;
}

/// The definition, by recursion.
std::int64_t slow_distance(const Units& a, std::size_t i, const Units& b, std::size_t j) {
  if (i == a.size()) return static_cast<std::int64_t>(b.size() - j);
  if (j == b.size()) return static_cast<std::int64_t>(a.size() - i);
  if (a[i] == b[j]) return slow_distance(a, i + 1, b, j + 1);
  return 1 + std::min({slow_distance(a, i + 1, b, j), slow_distance(a, i, b, j + 1),
                       slow_distance(a, i + 1, b, j + 1)});
}

TEST(EditDistance, EqualsTheDefinitionAndIsAMetric) {
  test::Random random("phones");
  for (int round = 0; round < 100; ++round) {
    const Units a = random_units(random);
    const Units b = random_units(random);
    const Units c = random_units(random);
    EXPECT_EQ(edit_distance(a, b), slow_distance(a, 0, b, 0));
    EXPECT_EQ(edit_distance(a, b), edit_distance(b, a));
    EXPECT_EQ(edit_distance(a, a), 0);
    EXPECT_LE(edit_distance(a, c), edit_distance(a, b) + edit_distance(b, c));
  }
}

TEST(ErrorRates, TheNearestVariantCounts) {
  const std::vector<std::string> answers{"T AH M EY T OW", "K AE T", "D AA G Z"};
  const std::vector<std::vector<std::string>> variants{
      {"T AH M AA T OW", "T AH M EY T OW"}, {"K AE T"}, {"D AO G", "D AA G"}};
  const ErrorRates rates = error_rates(answers, variants);
  EXPECT_EQ(rates.edits, 1);
  EXPECT_EQ(rates.length, 6 + 3 + 3);
  EXPECT_NEAR(rates.per, 100.0 / 12, test::kDoubleScore);
  EXPECT_NEAR(rates.wer, 100.0 / 3, test::kDoubleScore);
}

TEST(ErrorRates, SpacesAndIfAskedCapitalsDoNotCount) {
  const std::vector<std::string> answers{" k  ae t "};
  const std::vector<std::vector<std::string>> variants{{"K AE T"}};
  EXPECT_EQ(error_rates(answers, variants).edits, 3);
  EXPECT_EQ(error_rates(answers, variants, LetterCase::lowered).edits, 0);
}

TEST(ErrorRates, AnEmptyAnswerMissesEverything) {
  const std::vector<std::string> answers{""};
  const std::vector<std::vector<std::string>> variants{{"K AE T"}};
  EXPECT_NEAR(error_rates(answers, variants).per, 100.0, test::kDoubleScore);
  EXPECT_THROW((void)error_rates(answers, {}), InvalidArgument);
}

}  // namespace
}  // namespace attn::text
