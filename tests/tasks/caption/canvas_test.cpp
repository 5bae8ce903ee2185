#include "attn/tasks/caption/canvas.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "tasks/caption/support.hpp"

namespace attn::tasks {
namespace {

constexpr std::uint64_t kSeed = 3;
constexpr std::uint64_t kMany = 400;

TEST(Canvas, IsAFunctionOfSeedAndNumber) {
  const Digits digits = toy::digits();
  const Canvas one = compose_canvas(digits, kSeed, 17);
  const Canvas same = compose_canvas(digits, kSeed, 17);
  EXPECT_EQ(one.pixels, same.pixels);
  EXPECT_EQ(one.caption, same.caption);
  EXPECT_NE(one.pixels, compose_canvas(digits, kSeed, 18).pixels);
  EXPECT_NE(one.pixels, compose_canvas(digits, kSeed + 1, 17).pixels);
}

TEST(Canvas, HasItsInkInsideTheBoxesAndNowhereElse) {
  const Digits digits = toy::digits();
  for (std::uint64_t index = 0; index < kMany; ++index) {
    const Canvas canvas = compose_canvas(digits, kSeed, index);
    ASSERT_EQ(canvas.pixels.size(), static_cast<std::size_t>(kCanvasSide * kCanvasSide));
    std::vector<int> touched(canvas.digits.size(), 0);
    for (std::int64_t i = 0; i < kCanvasSide * kCanvasSide; ++i) {
      if (canvas.pixels[static_cast<std::size_t>(i)] < 64) continue;
      int boxes = 0;
      for (std::size_t d = 0; d < canvas.digits.size(); ++d) {
        const PlacedDigit& box = canvas.digits[d];
        const std::int64_t x = i % kCanvasSide - box.x;
        const std::int64_t y = i / kCanvasSide - box.y;
        if (x < 0 || y < 0 || x >= box.width || y >= box.height) continue;
        ++boxes;
        ++touched[d];
      }
      ASSERT_EQ(boxes, 1) << "ink outside, or boxes that overlap, on canvas " << index;
    }
    for (const int count : touched) EXPECT_GT(count, 20) << "a box without its digit";
  }
}

TEST(Canvas, BoxesAreAsWideAsTheDigitsTheyName) {
  const Digits digits = toy::digits();
  for (std::uint64_t index = 0; index < kMany; ++index)
    for (const PlacedDigit& box : compose_canvas(digits, kSeed, index).digits) {
      // A block of d + 3 columns in 20 of 28 rows, drawn in 20 to 30, two pixels around it.
      const double scale = static_cast<double>(box.height - 4) / 20.0;
      EXPECT_NEAR(static_cast<double>(box.width - 4),
                  static_cast<double>(box.digit + 3) * scale, 2.6)
          << "digit " << box.digit;
    }
}

TEST(Canvas, CaptionsAreNeverAmbiguous) {
  const Digits digits = toy::digits();
  std::set<std::size_t> counts;
  for (std::uint64_t index = 0; index < kMany; ++index) {
    const Canvas canvas = compose_canvas(digits, kSeed, index);
    counts.insert(canvas.digits.size());
    const auto words = caption_tokens(canvas.caption);
    std::size_t word = canvas.digits.size() == 1 ? 1 : 0;
    for (std::size_t d = 0; d < canvas.digits.size(); ++d) {
      const PlacedDigit& here = canvas.digits[d];
      ASSERT_EQ(digit_named(words.at(word)), here.digit) << canvas.caption;
      for (std::size_t later = d + 1; later < canvas.digits.size(); ++later) {
        const PlacedDigit& there = canvas.digits[later];
        const std::int64_t across = 2 * there.x + there.width - 2 * here.x - here.width;
        const std::int64_t down = 2 * there.y + there.height - 2 * here.y - here.height;
        // Boxes are cut at the rim of the canvas, by two pixels at most.
        EXPECT_GE(std::abs(std::abs(across) - std::abs(down)), 2 * kCaptionMargin - 4);
        EXPECT_GT(std::abs(across) > std::abs(down) ? across : down, 0) << canvas.caption;
        if (later != d + 1) continue;
        const bool left = std::abs(across) > std::abs(down);
        EXPECT_EQ(caption_text({words.at(word + 1)}), left ? "left" : "above");
        word += left ? 3 : 2;
      }
    }
    EXPECT_EQ(word + 1, words.size()) << canvas.caption;
    EXPECT_LE(words.size(), static_cast<std::size_t>(kLongestCaption));
  }
  EXPECT_EQ(counts, (std::set<std::size_t>{1, 2, 3}));
}

TEST(CaptionGrammar, SaysWhatAPersonWould) {
  const auto at = [](std::int64_t digit, std::int64_t x, std::int64_t y) {
    return PlacedDigit{digit, x, y, 10, 10};
  };
  const auto said = [](std::vector<PlacedDigit> digits) {
    const auto ordered = caption_order(std::move(digits));
    return ordered ? caption_of(*ordered) : std::string("unclear");
  };
  EXPECT_EQ(said({at(5, 20, 20)}), "a five");
  EXPECT_EQ(said({at(8, 20, 20)}), "an eight");
  EXPECT_EQ(said({at(3, 40, 22), at(7, 5, 20)}), "seven left of three");
  EXPECT_EQ(said({at(9, 12, 40), at(4, 10, 5)}), "four above nine");
  EXPECT_EQ(said({at(1, 0, 0), at(2, 25, 2), at(3, 50, 0)}), "one left of two left of three");
  EXPECT_EQ(said({at(2, 40, 0), at(1, 2, 2), at(6, 40, 26)}), "one left of two above six");
  // On the diagonal, or nearly so.
  EXPECT_EQ(said({at(1, 0, 0), at(2, 30, 30)}), "unclear");
  EXPECT_EQ(said({at(1, 0, 0), at(2, 30, 23)}), "unclear");
  EXPECT_EQ(said({at(1, 0, 0), at(2, 30, 22)}), "one left of two");
  // Two are clear, the third is on the diagonal of one of them.
  EXPECT_EQ(said({at(1, 0, 0), at(2, 40, 5), at(3, 40, 42)}), "unclear");
}

TEST(CaptionGrammar, WordsGoThereAndBack) {
  const std::string caption = "nine left of zero above an";
  EXPECT_EQ(caption_text(caption_tokens(caption)), caption);
  EXPECT_THROW(caption_tokens("nine beside zero"), InvalidArgument);
  EXPECT_THROW(caption_tokens("<pad>"), InvalidArgument);
  EXPECT_EQ(digit_named(caption_tokens("seven")[0]), 7);
  EXPECT_EQ(digit_named(caption_tokens("above")[0]), -1);
}

TEST(Canvas, WithoutDigitsOrWithoutInkIsAnError) {
  EXPECT_THROW(compose_canvas({}, 1, 0), InvalidArgument);
  Digits blank{std::vector<std::uint8_t>(784, 0), {1}};
  EXPECT_THROW(compose_canvas(blank, 1, 0), InvalidArgument);
}

}  // namespace
}  // namespace attn::tasks
