// Damaged maps: each is read or is a FileError, and what is read can be shown and written.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/maps/show.hpp"
#include "maps/support/examples.hpp"
#include "support/random.hpp"

namespace attn::maps {
namespace {

/// Whether the text was accepted; anything but a map or a FileError leaves the test.
bool survives(const std::string& text) {
  try {
    const Map map = parse_map(text);
    EXPECT_FALSE(show(map, 40).empty());
    EXPECT_EQ(parse_map(to_json(map)), map);
    return true;
  } catch (const FileError&) {
    return false;
  }
}

TEST(DamagedMap, EveryTruncationIsAnError) {
  for (const Map& map : every_example()) {
    const std::string good = to_json(map);
    for (std::size_t size = 0; size < good.size(); ++size)
      EXPECT_FALSE(survives(good.substr(0, size))) << good.substr(0, size);
    EXPECT_TRUE(survives(good));
  }
}

TEST(DamagedMap, ChangedBytesAndWordsAreReadOrRefused) {
  constexpr std::array<std::string_view, 16> kWords{
      "{", "}",    "[",    "]",  "\"",      ",",  ":",      "-",
      "9", "e308", "null", "[]", "\\u0000", "{}", "1e-400", "\xf0"};
  test::Random random("damage");
  int accepted = 0;
  for (const Map& map : every_example()) {
    const std::string good = to_json(map);
    const auto last = static_cast<int>(good.size()) - 1;
    for (int round = 0; round < 1500; ++round) {
      std::string text = good;
      for (int i = random.whole(1, 3); i > 0; --i) {
        const auto at = static_cast<std::size_t>(random.whole(0, last));
        if (random.whole(0, 1) == 0) {
          text[at] = static_cast<char>(random.whole(0, 255));
        } else {
          text.replace(at, static_cast<std::size_t>(random.whole(0, 2)),
                       kWords[static_cast<std::size_t>(
                           random.whole(0, static_cast<int>(kWords.size()) - 1))]);
        }
      }
      accepted += survives(text) ? 1 : 0;
    }
  }
  // A changed digit or letter is still a map; otherwise nothing was tested.
  EXPECT_GT(accepted, 500);
}

}  // namespace
}  // namespace attn::maps
