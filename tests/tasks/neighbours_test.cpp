#include "attn/tasks/neighbours.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "support/tolerance.hpp"

namespace attn::tasks {
namespace {

const std::vector<std::string> kTexts{"The red fox jumps", "a blue whale swims",
                                      "the red whale"};

TEST(Neighbours, ATextIsItsOwnNearestWhateverItsCapitals) {
  const Neighbours neighbours(kTexts);
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    const auto [index, cosine] = neighbours.nearest(kTexts[i] + "!");
    EXPECT_EQ(index, i);
    EXPECT_NEAR(cosine, 1.0, test::kFloat);
  }
  EXPECT_NEAR(neighbours.nearest("THE RED FOX JUMPS").cosine, 1.0, test::kFloat);
}

TEST(Neighbours, TheCosineIsThatOfTheWeightedCounts) {
  // "red" is in two of three texts, "fox" in one, "new" in none.
  const double red = std::log(4.0 / 3.0);
  const double rare = std::log(4.0 / 2.0);
  const double unknown = std::log(4.0);
  const double first = std::sqrt(2 * red * red + 2 * rare * rare);  // the, red, fox, jumps
  const double twice = (1 + std::log(2.0)) * rare;
  const double asked = std::sqrt(red * red + twice * twice + unknown * unknown);
  EXPECT_NEAR(Neighbours(kTexts).nearest("red fox fox new").cosine,
              (red * red + twice * rare) / (first * asked), test::kFloat);
}

TEST(Neighbours, NothingSharedIsNothingNear) {
  EXPECT_EQ(Neighbours(kTexts).nearest("cat").cosine, 0.0);
  EXPECT_EQ(Neighbours(kTexts).nearest("").cosine, 0.0);
  EXPECT_EQ(Neighbours({}).nearest("cat").cosine, 0.0);
}

}  // namespace
}  // namespace attn::tasks
