// Tokenisers of characters, words and subwords: learning, encoding, decoding, misuse.

#include "attn/text/tokeniser.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/text/unicode.hpp"
#include "support/random.hpp"
#include "text/scripts.hpp"

namespace attn::text {
namespace {

using Ids = std::vector<std::int64_t>;

std::vector<Piece> byte_pieces() {
  std::vector<Piece> pieces;
  for (const char high : std::string("0123456789ABCDEF"))
    for (const char low : std::string("0123456789ABCDEF"))
      pieces.push_back({std::string("<0x") + high + low + '>', 0.0f});
  return pieces;
}

Tokeniser subwords(std::vector<Piece> more = {}) {
  more.insert(
      more.end(),
      {{"▁", -3.0f}, {"▁a", -2.0f}, {"a", -2.5f}, {"b", -2.5f}, {"ab", -3.0f}, {"é", -4.0f}});
  return {Units::subwords, more};
}

TEST(Tokeniser, LearnsTheCommonestUnitsEqualOnesByCodePoint) {
  const std::vector<std::string> lines{"b a\tb", "é Ａ z", "b a"};
  const Tokeniser characters = Tokeniser::learn(Units::characters, lines, 4);
  EXPECT_EQ(characters.size(), 8);
  EXPECT_EQ(characters.label(4), "▁");  // five spaces
  EXPECT_EQ(characters.label(5), "b");
  EXPECT_EQ(characters.label(6), "a");
  EXPECT_EQ(characters.label(7), "A");  // before z and é
  const Tokeniser words = Tokeniser::learn(Units::words, lines, 100);
  EXPECT_EQ(words.size(), 4 + 5);
  EXPECT_EQ(words.encode("a  b nothing z"), (Ids{5, 4, Mark::unknown, 7}));
  EXPECT_EQ(words.decode(Ids{Mark::bos, 5, Mark::unknown, 4, Mark::eos, Mark::pad}), "a b");
}

TEST(Tokeniser, FindsTheNumberOfALabel) {
  const std::vector<std::string> lines{"b a a  b c"};
  for (const Units units : {Units::characters, Units::words}) {
    const Tokeniser tokeniser = Tokeniser::learn(units, lines, 100);
    for (std::int64_t id = 0; id < tokeniser.size(); ++id)
      EXPECT_EQ(tokeniser.find(tokeniser.label(id)), id) << tokeniser.label(id);
    EXPECT_EQ(tokeniser.find("zebra"), std::nullopt);
    EXPECT_EQ(tokeniser.find(""), std::nullopt);
  }
}

TEST(Tokeniser, DecodeUndoesEncodeForEveryKindOfUnit) {
  test::Random random("there and back");
  const auto words = lexicon(random, 300);
  std::vector<std::string> lines;
  for (int i = 0; i < 500; ++i) lines.push_back(random_line(random, words, 0.5));
  const Tokeniser tokenisers[] = {Tokeniser::learn(Units::characters, lines, 1 << 20),
                                  Tokeniser::learn(Units::words, lines, 1 << 20),
                                  subwords(byte_pieces())};
  for (const Tokeniser& tokeniser : tokenisers)
    for (const std::string& line : lines) {
      if (line.find("\u2581") != std::string::npos) continue;  // the space of subwords
      ASSERT_EQ(tokeniser.decode(tokeniser.encode(line)), normalise(line));
    }
}

TEST(Tokeniser, SubwordsAreTheMostProbableOnes) {
  const Tokeniser tokeniser = subwords();
  const auto labels = [&](const char* text) {
    std::string out;
    for (const std::int64_t id : tokeniser.encode(text)) out += tokeniser.label(id) + "|";
    return out;
  };
  EXPECT_EQ(labels("ab b"), "▁a|b|▁|b|");
  EXPECT_EQ(labels("bab"), "▁|b|ab|");
  EXPECT_EQ(labels("axyzb"), "▁a|<unk>|b|") << "a run of unknown characters is one";
  EXPECT_EQ(labels(""), "");
  EXPECT_EQ(labels(" \n "), "");
  EXPECT_EQ(tokeniser.decode(tokeniser.encode("ab e\u0301")), "ab é");
}

TEST(Tokeniser, BytesThatAreNoTextDecodeToValidUtf8) {
  const Tokeniser tokeniser = subwords(byte_pieces());
  const std::int64_t a = tokeniser.encode("a").at(0);
  EXPECT_EQ(tokeniser.label(4 + 0xc3), "<0xC3>");
  EXPECT_EQ(tokeniser.decode(Ids{4 + 0xc3, 4 + 0xa9, a, 4 + 0xc3, a, 4 + 0xff}),
            "é a\ufffd a\ufffd");
}

TEST(Tokeniser, AMegabyteOnOneLineTakesNoTime) {
  std::string line;
  while (line.size() < 1000000) line += "abé ba\U0001f389";
  const std::string one_word(1000000, 'a');
  const auto begin = std::chrono::steady_clock::now();
  for (const Tokeniser& tokeniser : {subwords(), subwords(byte_pieces())}) {
    EXPECT_GT(tokeniser.encode(line).size(), 100000U);
    EXPECT_EQ(tokeniser.decode(tokeniser.encode(one_word)), one_word);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
}

TEST(Tokeniser, MisuseIsRefused) {
  const auto make = [](Units units, std::vector<Piece> pieces) {
    return Tokeniser(units, std::move(pieces));
  };
  EXPECT_THROW(make(Units::words, {{"a"}, {"a"}}), InvalidArgument);
  EXPECT_THROW(make(Units::words, {{""}}), InvalidArgument);
  EXPECT_THROW(make(Units::words, {{"a b"}}), InvalidArgument);
  EXPECT_THROW(make(Units::words, {{"\xff"}}), InvalidArgument);
  EXPECT_THROW(make(Units::words, {{std::string(257, 'a')}}), InvalidArgument);
  EXPECT_THROW(make(Units::characters, {{"ab"}}), InvalidArgument);
  EXPECT_THROW(make(Units::subwords, {{"a", std::numeric_limits<float>::quiet_NaN()}}),
               InvalidArgument);
  EXPECT_THROW((void)Tokeniser::learn(Units::subwords, {}, 10), InvalidArgument);
  const Tokeniser tokeniser = make(Units::words, {{"a"}});
  EXPECT_THROW((void)tokeniser.encode("\xff"), InvalidArgument);
  EXPECT_THROW((void)tokeniser.decode(Ids{5}), InvalidArgument);
  EXPECT_THROW((void)tokeniser.decode(Ids{-1}), InvalidArgument);
  EXPECT_THROW((void)tokeniser.label(5), InvalidArgument);
}

TEST(Tokeniser, OneWithoutPiecesKnowsNothing) {
  const Tokeniser tokeniser(Units::subwords, {});
  EXPECT_EQ(tokeniser.size(), 4);
  EXPECT_EQ(tokeniser.encode("any thing"), Ids{Mark::unknown});
}

TEST(Tokeniser, TellsWhatItsVocabularyDoesNotHold) {
  const Tokeniser letters(Units::characters, {{"a"}, {"b"}});
  EXPECT_EQ(letters.unknown_share("ab ba"), 0.0);
  EXPECT_EQ(letters.unknown_share("a1 b2"), 0.5);
  EXPECT_EQ(letters.unknown_share(""), 0.0);
  const Tokeniser words(Units::words, {{"cat"}, {"dog"}});
  EXPECT_EQ(words.unknown_share("cat cow dog sheep"), 0.5);
  // What is spelt in bytes is not held either, though nothing is lost.
  std::vector<Piece> pieces{{"\u2581", -1.0f}, {"a", -1.0f}, {"b", -1.0f}};
  constexpr char kDigits[] = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte)
    pieces.push_back(
        {std::string("<0x") + kDigits[byte / 16] + kDigits[byte % 16] + ">", -9.0f});
  const Tokeniser subwords(Units::subwords, pieces);
  EXPECT_EQ(subwords.unknown_share("ab ab"), 0.0);
  EXPECT_DOUBLE_EQ(subwords.unknown_share("ab\u4f60\u597d!!"), 4.0 / 6.0);
}

}  // namespace
}  // namespace attn::text
