#include "attn/tasks/debian/index.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/text_data.hpp"
#include "tasks/debian/kept_candidates.hpp"

namespace attn::tasks {
namespace {

constexpr const char* kPackages =
    "Package: game\nSection: games\n\n"
    "Package: libgame-dev\nSource: game (1.2-3)\nSection: libdevel\n\n"
    "Package: librust-x-dev\nSource: rust-x\n\n"
    "Package: old\n";

constexpr const char* kEnglish =
    "Package: game\nDescription-md5: 1\nDescription-en: strategy game of the stars\n"
    " It is a game of war and trade. It runs on all machines.\n .\n Features:\n"
    "  * play against many others\n  * short\n .\n One two three four.\n\n"
    "Package: libgame-dev\nDescription-md5: 2\nDescription-en: files to build with it\n"
    " It is a game of war and trade. Nothing else.\n\n"
    "Package: librust-x-dev\nDescription-md5: 3\nDescription-en: some of the rust code\n\n"
    "Package: old\nDescription-md5: 4\nDescription-en: transitional package for game\n\n"
    "Package: broken\nDescription-en: without an md5\n\n"
    "Package: elsewhere\nDescription-md5: 5\nDescription-en: known to another index\n";

constexpr const char* kItalian =
    "Package: game\nDescription-md5: 1\nDescription-it: gioco di strategia delle stelle\n"
    " È un gioco di guerra e commercio. Va su tutte le macchine.\n .\n Caratteristiche:\n"
    "  - giocare contro molti altri\n  - breve\n .\n One two three four.\n\n"
    "Package: libgame-dev\nDescription-md5: 2\nDescription-it: file per compilare con esso\n"
    " È un gioco di guerra e commercio.\n\n"
    "Package: librust-x-dev\nDescription-md5: 3\nDescription-it: un po' di codice rust\n\n"
    "Package: old\nDescription-md5: 4\nDescription-it: pacchetto di transizione per game\n";

DebianIndex made_index() {
  return parse_debian(merge_english(kPackages, kEnglish, "12.1"), kItalian, "it");
}

TEST(DebianIndex, DescriptionsKnowTheirSourcePackage) {
  const DebianIndex moved = made_index();
  EXPECT_EQ(moved.release, "12.1");
  ASSERT_EQ(moved.english.size(), 5u);
  EXPECT_EQ(moved.english[0].source, "game");
  EXPECT_EQ(moved.english[0].section, "games");
  EXPECT_EQ(moved.english[1].package, "libgame-dev");
  EXPECT_EQ(moved.english[1].source, "game");
  EXPECT_EQ(moved.english[4].source, "elsewhere");
  EXPECT_EQ(moved.translated.size(), 4u);
  EXPECT_EQ(moved.translated.at("1").synopsis, "gioco di strategia delle stelle");
}

TEST(TranslateCandidates, SentencesArePairedByTheirPlaces) {
  std::vector<std::string> rows;
  for (const auto& [example, package] : translate_candidates(made_index()))
    rows.push_back(example.id + " " + example.source + " = " + example.targets[0]);
  // Left out: items and headings of fewer than three words, what is the same in both languages,
  // the second description's body, whose sentences differ in number, and machine-made packages.
  EXPECT_EQ(rows, (std::vector<std::string>{
                      "1:0 strategy game of the stars = gioco di strategia delle stelle",
                      "1:1 It is a game of war and trade. = È un gioco di guerra e commercio.",
                      "1:2 It runs on all machines. = Va su tutte le macchine.",
                      "1:4 play against many others = giocare contro molti altri",
                      "2:0 files to build with it = file per compilare con esso"}));
}

TEST(TranslateCandidates, LengthsFarApartAreNoPairs) {
  const auto pairs = [](const std::string& english, const std::string& other) {
    const DebianIndex index =
        parse_debian("Package: p\nDescription-md5: 1\nDescription-en: " + english + "\n",
                     "Package: p\nDescription-md5: 1\nDescription-it: " + other + "\n", "it");
    return translate_candidates(index).size();
  };
  std::string forty;
  for (int i = 0; i < 40; ++i) forty += "w ";
  EXPECT_EQ(pairs("a b c", "x y"), 1u);
  EXPECT_EQ(pairs("a b c", "x"), 0u);
  EXPECT_EQ(pairs("a b c", "1 2 3 4 5 6"), 1u);
  EXPECT_EQ(pairs("a b c", "1 2 3 4 5 6 7"), 0u);
  EXPECT_EQ(pairs("a b", "x y"), 0u);
  EXPECT_EQ(pairs(forty, forty + "x"), 1u);
  EXPECT_EQ(pairs(forty + "w", forty), 0u);
  EXPECT_EQ(pairs("a b c", "x \xff z"), 0u);
}

TEST(LoadTranslate, AnUnknownLanguageIsAnErrorThatNamesTheKnown) {
  try {
    pair_task_named("translate").load({.language = "tlh"}, {});
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("it da fr de es"), std::string::npos);
  }
}

TEST(SummariseCandidates, LongTextsAreJoinedAndAlikeOnesLeftOut) {
  const std::string words =
      "w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11 w12 w13 w14 w15 w16 w17 w18 w19 "
      "w20 w21 w22 w23 w24 w25";
  const auto record = [](const std::string& md5, const std::string& synopsis,
                         const std::string& body) {
    return "Package: p" + md5 + "\nDescription-md5: " + md5 + "\nDescription-en: " + synopsis +
           "\n" + body + "\n\n";
  };
  const DebianIndex index = parse_debian(
      record("1", "a good tool", " " + words + "\n .\n  * an item\n   of it\n .\n end") +
          record("2", "a good tool (headers)", " " + words + " with headers") +
          record("3", "too short", " one two three four five six seven eight nine ten") +
          record("4", "a tool", " other " + words) + record("5", "the empty one", ""),
      "", "");
  const auto candidates = summarise_candidates(index);
  ASSERT_EQ(candidates.size(), 1u);
  EXPECT_EQ(candidates[0].example.id, "1");
  EXPECT_EQ(candidates[0].example.source, words + " * an item of it end");
  EXPECT_EQ(candidates[0].example.targets, std::vector<std::string>{"a good tool"});
}

TEST(KeptCandidates, ComeBackAsTheyWere) {
  const KeptCandidates kept{"12.1", translate_candidates(made_index())};
  const KeptCandidates back = candidates_from(text_of(kept));
  EXPECT_EQ(back.release, "12.1");
  EXPECT_EQ(text_of(back), text_of(kept));
  EXPECT_EQ(back.candidates.size(), 5u);
  EXPECT_EQ(back.candidates[3].package, "game");
  EXPECT_THROW(candidates_from("12.1\nid\tpackage\n"), FileError);
}

}  // namespace
}  // namespace attn::tasks
