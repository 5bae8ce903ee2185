// Byte pieces: every text comes back, merges go by score, and what is learnt is the commonest.

#include "attn/text/byte_pieces.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::text {
namespace {

using Tokens = std::vector<std::int64_t>;

constexpr std::int64_t kFirst = BytePieces::kFirstPiece;

/// As Llama's programs have it: look at all neighbours, join the best, begin again.
Tokens by_looking_at_all(const BytePieces& pieces, std::string_view text) {
  std::vector<std::string> parts;
  for (const char c : text) parts.emplace_back(1, c);
  const auto find = [&](const std::string& part) {
    for (std::size_t i = 0; i < pieces.pieces().size(); ++i)
      if (pieces.pieces()[i].text == part) return static_cast<std::int64_t>(i);
    return std::int64_t{-1};
  };
  for (;;) {
    std::size_t best = parts.size();
    float most = -1e30f;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const std::int64_t joined = find(parts[i] + parts[i + 1]);
      if (joined < 0) continue;
      const float score = pieces.pieces()[static_cast<std::size_t>(joined)].score;
      if (score > most) {
        most = score;
        best = i;
      }
    }
    if (best == parts.size()) break;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  Tokens ids;
  for (const std::string& part : parts)
    ids.push_back(part.size() == 1
                      ? BytePieces::kFirstByte + static_cast<unsigned char>(part[0])
                      : kFirst + find(part));
  return ids;
}

TEST(BytePieces, JoinTheBestNeighboursFirst) {
  const BytePieces pieces({{"ab", -2}, {"bc", -1}, {"abc", -3}, {"aa", -4}, {" a", 0}});
  EXPECT_EQ(pieces.encode("abc"), (Tokens{kFirst + 2}));  // bc first, then a and bc
  EXPECT_EQ(pieces.encode("aaa"), (Tokens{kFirst + 3, BytePieces::kFirstByte + 'a'}));
  EXPECT_EQ(pieces.encode("b a"), (Tokens{BytePieces::kFirstByte + 'b', kFirst + 4}));
  for (const char* text : {"abcabc aab", "aaaa", " a aabc", "cab", "bcbcabab a"})
    EXPECT_EQ(pieces.encode(text), by_looking_at_all(pieces, text)) << text;
}

TEST(BytePieces, WithSpacesInsideJoinAcrossWords) {
  const BytePieces pieces({{"a ", -1}, {"a b", -2}});
  EXPECT_EQ(pieces.encode("a b"), (Tokens{kFirst + 1}));
  EXPECT_EQ(pieces.encode("a a b"), by_looking_at_all(pieces, "a a b"));
}

TEST(BytePieces, GiveEveryTextBack) {
  const std::vector<std::string> texts{"the cat sat on the mat\n  the end, però\n",
                                       "the cat and the other cat\n"};
  const BytePieces pieces = BytePieces::learn(texts, kFirst + 20);
  std::string all_bytes;
  for (int byte = 0; byte < 256; ++byte) all_bytes += static_cast<char>(byte);
  for (const std::string& text : {texts[0], std::string(), std::string("介绍一下 西安\r\n\t x"),
                                  all_bytes, std::string("\xE4\xBB"), std::string("  \n\n  ")})
    EXPECT_EQ(pieces.decode(pieces.encode(text)), text);
  const BytePieces spaced(pieces.pieces(), BytePieces::Opening::space);
  EXPECT_EQ(spaced.encode("cat"), pieces.encode(" cat"));
  EXPECT_EQ(spaced.decode(spaced.encode(texts[0])), texts[0]);
  EXPECT_TRUE(spaced.encode("").empty());
}

TEST(BytePieces, LearnTheCommonest) {
  const std::vector<std::string> texts{"the then the there the 12 12 12 12 -- -- é é é"};
  const BytePieces pieces = BytePieces::learn(texts, kFirst + 5);
  std::vector<std::string> learnt;
  for (const Piece& piece : pieces.pieces()) learnt.push_back(piece.text);
  // Letters beyond ASCII first; then "th", 5 times, and what it grows into.
  EXPECT_EQ(learnt, (std::vector<std::string>{"é", "he", "the", " 1", " the"}));
  for (const std::string& piece : learnt) EXPECT_TRUE(files::is_utf8(piece));
  // No pair is left that is there twice: the vocabulary stays small.
  EXPECT_LT(BytePieces::learn(std::vector<std::string>{"abc"}, 1000).size(), kFirst + 3);
  EXPECT_THROW(BytePieces::learn(texts, 100), InvalidArgument);
}

TEST(BytePieces, RefuseWhatIsNoVocabulary) {
  EXPECT_THROW(BytePieces({{"", 0}}), InvalidArgument);
  EXPECT_THROW(BytePieces({{"ab", 0}, {"ab", 1}}), InvalidArgument);
  const BytePieces pieces({{" \n", 0}});
  EXPECT_EQ(pieces.label(kFirst), "▁↵");
  EXPECT_EQ(pieces.label(BytePieces::kFirstByte + 0xC3), "<C3>");
  EXPECT_EQ(pieces.label(Mark::eos), "</s>");
  EXPECT_EQ(pieces.decode(Tokens{Mark::bos, kFirst, Mark::eos}), " \n");
  EXPECT_THROW(pieces.decode(Tokens{kFirst + 1}), InvalidArgument);
  EXPECT_THROW(pieces.decode(Tokens{-1}), InvalidArgument);
}

TEST(WholeCharacters, LeaveOutWhatMayBeCompleted) {
  EXPECT_EQ(whole_characters("abc"), 3u);
  EXPECT_EQ(whole_characters("ab\xC3"), 2u);
  EXPECT_EQ(whole_characters("a\xE4\xBB"), 1u);
  EXPECT_EQ(whole_characters("a\xE4\xBB\x8B"), 4u);
  EXPECT_EQ(whole_characters("\xF0\x9F\x98"), 0u);
  EXPECT_EQ(whole_characters("\x80\x80\x80\x80"), 4u);  // completes nothing
  EXPECT_EQ(whole_characters("\xFF"), 1u);
}

}  // namespace
}  // namespace attn::text
