#include "attn/tasks/calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "support/tolerance.hpp"

namespace attn::tasks {
namespace {

using Words = std::vector<std::string>;

TEST(WordsOf, LeavesPunctuationAndTellsNoNumbersApart) {
  EXPECT_EQ(counted_words("Don't (ever) say \"it's 42.50\" twice!"),
            (Words{"don't", "ever", "say", "it's", "0", "0", "twice"}));
  EXPECT_EQ(counted_words("l\u2019\u00e9t\u00e9 \u2014 sha1, 'quoted'"),
            (Words{"l'\u00e9t\u00e9", "sha", "0", "quoted"}));
  EXPECT_EQ(counted_words(" ?! "), Words{});
}

TEST(Calibration, EachReasonAlone) {
  Calibration calibration;
  calibration.unknown = 0.1;
  calibration.log_probability = -2.0;
  calibration.words = WordProfile{{{"package", 4.0f}, {"love", -4.0f}}, 0.0};
  EXPECT_FALSE(calibration.is_unfamiliar("the package", 0.1, -1.9));
  EXPECT_TRUE(calibration.is_unfamiliar("the package", 0.2, -1.9));
  EXPECT_TRUE(calibration.is_unfamiliar("the package", 0.0, -2.1));
  EXPECT_FALSE(calibration.is_unfamiliar("the package", 0.0, std::nullopt));
  EXPECT_TRUE(calibration.is_unfamiliar("my love", 0.0, -0.1));
  EXPECT_NEAR(calibration.words->score("the package of love and package"), 4.0 / std::sqrt(6.0),
              test::kFloat);
}

}  // namespace
}  // namespace attn::tasks
