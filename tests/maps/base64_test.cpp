// Base64 is that of the standard, for every length.

#include "attn/maps/base64.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/random.hpp"

namespace attn::maps {
namespace {

std::string encoded(const std::string& text) {
  return to_base64(std::vector<std::uint8_t>(text.begin(), text.end()));
}

TEST(Base64, IsThatOfTheStandard) {
  // RFC 4648, section 10.
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foob"), "Zm9vYg==");
  EXPECT_EQ(encoded("fooba"), "Zm9vYmE=");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
}

TEST(Base64, EveryLengthComesBack) {
  test::Random random("base64");
  for (std::size_t size = 0; size < 70; ++size) {
    std::vector<std::uint8_t> bytes(size);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.whole(0, 255));
    const auto back = from_base64(to_base64(bytes));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(*back, bytes);
  }
}

TEST(Base64, OtherSpellingsAreRefused) {
  for (const char* text : {"Zg", "Zg=", "Zg===", "Z===", "====", "Zh==", "Zm9=", "Zg==Zg==",
                           "Z g=", "Zm9v\n", "Zm9-", "=Zm9", "Zm=9"})
    EXPECT_FALSE(from_base64(text).has_value()) << text;
}

}  // namespace
}  // namespace attn::maps
