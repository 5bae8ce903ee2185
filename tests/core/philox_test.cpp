// Philox gives the published words, and every position has its own.

#include "attn/core/philox.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace attn {
namespace {

using Words = PhiloxBlock<std::uint32_t>;

void expect_words(const Words& got, const Words& want) {
  EXPECT_EQ(got.a, want.a);
  EXPECT_EQ(got.b, want.b);
  EXPECT_EQ(got.c, want.c);
  EXPECT_EQ(got.d, want.d);
}

// The known answers of Random123 1.14, file kat_vectors, philox4x32-10.
TEST(Philox, GivesTheKnownAnswers) {
  expect_words(philox(Words{0, 0, 0, 0}, 0), {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  expect_words(
      philox(Words{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffffffffffff),
      {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  expect_words(
      philox(Words{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822),
      {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(Philox, OneBlockServesFourRows) {
  const Words words = random_words(77, 2, 3, 8, 5);
  expect_words(words, philox(Words{5, 2, 3, 2}, 77));
  EXPECT_EQ(random_word(77, 2, 3, 8, 5), words.a);
  EXPECT_EQ(random_word(77, 2, 3, 9, 5), words.b);
  EXPECT_EQ(random_word(77, 2, 3, 10, 5), words.c);
  EXPECT_EQ(random_word(77, 2, 3, 11, 5), words.d);
}

TEST(Philox, EveryPlaceHasItsOwnWord) {
  std::set<std::uint32_t> words;
  for (int b = 0; b < 3; ++b)
    for (int h = 0; h < 3; ++h)
      for (int q = 0; q < 9; ++q)
        for (int k = 0; k < 9; ++k) words.insert(random_word(1, b, h, q, k));
  EXPECT_EQ(words.size(), 3u * 3u * 9u * 9u);
}

TEST(Philox, UniformNumbersAreInsideTheOpenIntervalAndAgreeAcrossTypes) {
  for (const std::uint32_t word : {0u, 511u, 512u, 0x80000000u, 0xffffffffu}) {
    const auto narrow = open_uniform<float>(word);
    EXPECT_GT(narrow, 0.0f);
    EXPECT_LT(narrow, 1.0f);
    EXPECT_EQ(static_cast<double>(narrow), open_uniform<double>(word));
  }
  double sum = 0.0;
  for (int k = 0; k < 10000; ++k) sum += random_uniform<double>(3, {0, 0, 0, k});
  EXPECT_NEAR(sum / 10000, 0.5, 5 * std::sqrt(1.0 / 12 / 10000));
}

}  // namespace
}  // namespace attn
