// BLEU equals sacreBLEU on recorded cases.

#include "attn/text/metrics/bleu.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/text/metrics/references.hpp"
#include "text/metrics/cases.hpp"

namespace attn::text {
namespace {

using Texts = std::vector<std::string>;
using Lists = std::vector<Texts>;

// The files hold doubles of the same formula.
constexpr double kNear = 1e-6;

TEST(Bleu, EqualsSacrebleuOnEveryCase) {
  for (const auto& at : metric_cases("bleu_chrf.json")) {
    SCOPED_TRACE(at.at("name").get<std::string>());
    const auto hypotheses = at.at("hyps").get<Texts>();
    const Lists references = by_line(at.at("refs").get<Lists>());
    const Bleu bleu = corpus_bleu(hypotheses, references);
    EXPECT_NEAR(bleu.score, at.at("bleu").get<double>(), kNear);
    for (std::size_t n = 0; n < Bleu::kOrders; ++n)
      EXPECT_NEAR(bleu.precisions[n], at.at("precisions").at(n).get<double>(), kNear);
    EXPECT_NEAR(bleu.brevity_penalty, at.at("bp").get<double>(), kNear);
    EXPECT_EQ(bleu.length, at.at("sys_len").get<std::int64_t>());
    EXPECT_EQ(bleu.reference_length, at.at("ref_len").get<std::int64_t>());
    EXPECT_NEAR(corpus_bleu(hypotheses, references, LetterCase::lowered).score,
                at.at("bleu_lowercase").get<double>(), kNear);
    const auto each = at.at("sentence_bleu").get<std::vector<double>>();
    for (std::size_t i = 0; i < each.size(); ++i)
      EXPECT_NEAR(sentence_bleu(hypotheses[i], references[i]).score, each[i], kNear) << i;
  }
}

TEST(Bleu, OneOfSeveralReferencesIsEnough) {
  const Texts hypotheses{"the cat sat on the mat", "a dog"};
  const Lists references{{"something else", "the cat sat on the mat"}, {"a dog", "one dog"}};
  EXPECT_NEAR(corpus_bleu(hypotheses, references).score, 100.0, kNear);
}

TEST(Bleu, AWordCountsOnlyAsOftenAsAReferenceHasIt) {
  const Bleu bleu = sentence_bleu("the the the the", {"the cat", "the the"});
  EXPECT_EQ(bleu.matches[0], 2);
  EXPECT_EQ(bleu.totals[0], 4);
}

TEST(Bleu, OfReferencesEquallyFarTheShorterGivesTheLength) {
  EXPECT_EQ(sentence_bleu("a b c", {"a b c d", "a b"}).reference_length, 2);
}

TEST(Bleu, EmptyAnswersScoreNothing) {
  EXPECT_EQ(sentence_bleu("", {"a"}).score, 0.0);
  EXPECT_EQ(sentence_bleu("", {""}).score, 0.0);
  EXPECT_EQ(sentence_bleu("a", {""}).score, 0.0);
}

TEST(Bleu, CapitalsOfEveryScriptAreLowered) {
  const Texts hypotheses{"ΟΔΟΣ ΚΑΛΟΣ ΚΑΙ ΜΕΓΑΣ", "ÉTÉ İSTANBUL БОЛЬШОЙ ДОМ"};
  const Lists references{{"οδος καλος και μεγας"}, {"été i\u0307stanbul большой дом"}};
  EXPECT_EQ(corpus_bleu(hypotheses, references).score, 0.0);
  EXPECT_NEAR(corpus_bleu(hypotheses, references, LetterCase::lowered).score, 100.0, kNear);
}

TEST(Bleu, CountsThatDisagreeAreRefused) {
  const Texts two{"a", "b"};
  EXPECT_THROW(corpus_bleu(two, Lists{{"a"}}), InvalidArgument);
  EXPECT_THROW(corpus_bleu(two, Lists{{"a"}, {}}), InvalidArgument);
  EXPECT_THROW(corpus_bleu(Texts{}, Lists{}), InvalidArgument);
  EXPECT_THROW(corpus_bleu(Texts{"\xff"}, Lists{{"a"}}), InvalidArgument);
}

TEST(Tokenise13a, SplitsAsMteval) {
  const auto split = [](const char* text, const Texts& want) {
    EXPECT_EQ(tokenise_13a(text), want) << text;
  };
  split("Hello, world.", {"Hello", ",", "world", "."});
  split("3,000.50 and 5. or .5", {"3,000.50", "and", "5", ".", "or", ".", "5"});
  split("10-year-old x-y", {"10", "-", "year-old", "x-y"});
  split("it's (a) &quot;b&quot;/c&amp;lt;",
        {"it's", "(", "a", ")", "\"", "b", "\"", "/", "c", "<"});
  split("a<skipped>b ... ,,", {"ab", ".", ".", ".", ",", ","});
  split("«né». 日本。\u00a0ok", {"«né»", ".", "日本。", "ok"});
  split("", {});
  split(" \t ", {});
}

}  // namespace
}  // namespace attn::text
