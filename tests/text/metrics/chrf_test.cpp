// chrF equals sacreBLEU on recorded cases.

#include "attn/text/metrics/chrf.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/text/metrics/references.hpp"
#include "support/tolerance.hpp"
#include "text/metrics/cases.hpp"

namespace attn::text {
namespace {

using Texts = std::vector<std::string>;
using Lists = std::vector<Texts>;

TEST(Chrf, EqualsSacrebleuOnEveryCase) {
  for (const auto& at : metric_cases("bleu_chrf.json")) {
    const Lists references = by_line(at.at("refs").get<Lists>());
    EXPECT_NEAR(corpus_chrf(at.at("hyps").get<Texts>(), references),
                at.at("chrf2").get<double>(), test::kFloat)
        << at.at("name");
  }
}

TEST(Chrf, WhiteSpaceDoesNotCount) {
  EXPECT_NEAR(sentence_chrf("a b\tc\u3000d", {"ab cd"}), 100.0, test::kDoubleScore);
}

TEST(Chrf, OrdersLongerThanTheTextAreLeftOut) {
  EXPECT_NEAR(sentence_chrf("ab", {"ab"}), 100.0, test::kDoubleScore);
  // One of two characters, no pair: precision and recall 1/4 on average.
  EXPECT_NEAR(sentence_chrf("ab", {"ax"}), 25.0, test::kDoubleScore);
}

TEST(Chrf, TheBestReferenceCounts) {
  EXPECT_NEAR(sentence_chrf("hello", {"xyz", "hello"}), 100.0, test::kDoubleScore);
}

TEST(Chrf, ACharacterOfAnyScriptIsOne) {
  EXPECT_NEAR(sentence_chrf("日本", {"日木"}), sentence_chrf("ab", {"ax"}), test::kDoubleScore);
  EXPECT_NEAR(sentence_chrf("ÉTÉ", {"été"}, LetterCase::lowered), 100.0, test::kDoubleScore);
}

TEST(Chrf, EmptyAnswersScoreNothing) {
  EXPECT_EQ(sentence_chrf("", {"a"}), 0.0);
  EXPECT_EQ(sentence_chrf("a", {""}), 0.0);
  EXPECT_THROW((void)sentence_chrf("a", {}), InvalidArgument);
}

}  // namespace
}  // namespace attn::text
