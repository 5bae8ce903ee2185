#include "tasks/embed/pieces.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

using Ids = std::vector<std::int64_t>;
using Entries = std::vector<Pieces::Entry>;

/// Six marks, then these.
Pieces pieces_of(const Entries& entries) {
  Entries all{{"\uFFFD"}, {"<s>"}, {"</s>"}, {"x1"}, {"x2"}, {"x3"}};
  all.insert(all.end(), entries.begin(), entries.end());
  return {all, "test"};
}

TEST(Pieces, TheLikeliestCutWins) {
  const Entries common{{"\u2581", -1}, {"a", -2}, {"b", -2}};
  Entries whole = common;
  whole.push_back({"ab", -3.9});
  EXPECT_EQ(pieces_of(whole).encode("ab"), (Ids{6, 9}));
  whole.back().score = -4.1;
  EXPECT_EQ(pieces_of(whole).encode("ab"), (Ids{6, 7, 8}));
}

TEST(Pieces, OfEqualCutsTheOneWithTheShorterLastPieceWins) {
  EXPECT_EQ(pieces_of({{"\u2581", -1}, {"a", -2}, {"ab", -4}, {"b", -2}}).encode("ab"),
            (Ids{6, 7, 9}));
}

TEST(Pieces, SpacesAreKeptAndOneComesFirst) {
  const Pieces pieces = pieces_of({{"\u2581", -1}, {"a", -2}});
  EXPECT_EQ(pieces.encode("a"), (Ids{6, 7}));
  EXPECT_EQ(pieces.encode(" a  "), (Ids{6, 6, 7, 6, 6}));
  EXPECT_EQ(pieces.encode("\u00a0"), (Ids{6, 6})) << "NFKC makes a space of it";
  EXPECT_EQ(pieces.encode(""), Ids{});
}

TEST(Pieces, ARunOfTheUnknownIsOneZero) {
  const Pieces pieces = pieces_of({{"\u2581", -1}, {"a", -2}});
  EXPECT_EQ(pieces.encode("\U0001F600zz"), (Ids{6, 0}));
  EXPECT_EQ(pieces.encode("zaz"), (Ids{6, 0, 7, 0}));
  EXPECT_EQ(pieces.encode(std::string("a\0\0a", 4)), (Ids{6, 7, 0, 7}));
  EXPECT_EQ(pieces.encode("<s>"), (Ids{6, 0})) << "marks are not text";
}

TEST(Pieces, OfTwoEqualPiecesTheLaterCounts) {
  EXPECT_EQ(pieces_of({{"\u2581", -1}, {"a", -2}, {"a", -9}}).encode("a"), (Ids{6, 8}));
}

TEST(Pieces, LongTextsTakeLinearTime) {
  const Pieces pieces = pieces_of({{"\u2581", -1}, {"a", -2}, {"aaaa", -3}});
  EXPECT_EQ(pieces.encode(std::string(400000, 'a')).size(), 100001u);
}

TEST(Pieces, TextThatIsNotUtf8IsRefused) {
  EXPECT_THROW(pieces_of({{"a", -2}}).encode("\xff"), InvalidArgument);
  EXPECT_THROW(pieces_of({{"a", -2}}).encode("\xed\xa0\x80"), InvalidArgument);
}

TEST(Pieces, DamagedVocabulariesAreFileErrorsThatNameThePiece) {
  const Scratch scratch;
  const std::string marks = R"(["?",0],["b",0],["c",0],["d",0],["e",0],["f",0])";
  const auto says = [&](const std::string& content) {
    const auto path = scratch.write("vocab.json", content);
    return message_of<FileError>([&] { Pieces::read(path); });
  };
  const auto says_with = [&](const std::string& last) {
    return says("[" + marks + "," + last + "]");
  };
  EXPECT_EQ(says_with(R"(["g",null],["h",-1.5])"), "");
  for (const std::string content : {"", "{}", "[", "7"})
    EXPECT_NE(says(content), "") << content;
  EXPECT_NE(says("[" + marks + "]").find("6 pieces"), std::string::npos);
  for (const std::string last : {R"(["",-1])", R"("g")", R"(["g"])", R"(["g","h"])", "[1,2]"})
    EXPECT_NE(says_with(last).find("piece 6"), std::string::npos) << says_with(last);
}

}  // namespace
}  // namespace attn::tasks
