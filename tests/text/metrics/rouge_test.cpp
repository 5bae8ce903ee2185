// ROUGE equals torchmetrics on recorded cases.

#include "attn/text/metrics/rouge.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/text/metrics/references.hpp"
#include "text/metrics/cases.hpp"

namespace attn::text {
namespace {

using Texts = std::vector<std::string>;

// torchmetrics works in float, and its scores of lines were written with six digits.
constexpr double kNear = 2e-6;

void expect_equal(const Overlap& got, const nlohmann::json& want, const std::string& name) {
  EXPECT_NEAR(got.precision, want.at(name + "_precision").get<double>(), kNear) << name;
  EXPECT_NEAR(got.recall, want.at(name + "_recall").get<double>(), kNear) << name;
  EXPECT_NEAR(got.f1, want.at(name + "_fmeasure").get<double>(), kNear) << name;
}

void expect_equal(const Rouge& got, const nlohmann::json& want) {
  expect_equal(got.rouge1, want, "rouge1");
  expect_equal(got.rouge2, want, "rouge2");
  expect_equal(got.rouge_l, want, "rougeL");
}

TEST(Rouge, EqualsTorchmetricsOnEveryLineAndTogether) {
  const auto cases = metric_cases("rouge.json");
  const auto hypotheses = cases.at("hyps").get<Texts>();
  const auto references = by_line({cases.at("refs").get<Texts>()});
  expect_equal(corpus_rouge(hypotheses, references), cases.at("scores"));
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    SCOPED_TRACE(i);
    expect_equal(sentence_rouge(hypotheses[i], references[i]), cases.at("each").at(i));
  }
}

TEST(Rouge, OrderCountsForTheSubsequenceAlone) {
  const Rouge rouge = sentence_rouge("d c b a", {"a b c d"});
  EXPECT_NEAR(rouge.rouge1.f1, 1.0, kNear);
  EXPECT_NEAR(rouge.rouge2.f1, 0.0, kNear);
  EXPECT_NEAR(rouge.rouge_l.f1, 0.25, kNear);
}

TEST(Rouge, OnlyLettersAndDigitsOfAsciiMakeWords) {
  EXPECT_NEAR(sentence_rouge("It's GNU/Linux-2", {"it s gnu linux 2"}).rouge2.f1, 1.0, kNear);
  EXPECT_NEAR(sentence_rouge("café", {"caf"}).rouge1.f1, 1.0, kNear);
}

TEST(Rouge, TheReferenceWithTheBestWordsCountsForAll) {
  const Rouge rouge = sentence_rouge("a b c", {"a b x y z", "c b a"});
  EXPECT_NEAR(rouge.rouge1.f1, 1.0, kNear);
  EXPECT_NEAR(rouge.rouge2.f1, 0.0, kNear);
}

TEST(Rouge, EmptyAnswersScoreNothing) {
  EXPECT_EQ(sentence_rouge("", {"a"}).rouge1.f1, 0.0);
  EXPECT_EQ(sentence_rouge("...", {""}).rouge_l.f1, 0.0);
  EXPECT_THROW((void)sentence_rouge("a", {}), InvalidArgument);
}

}  // namespace
}  // namespace attn::text
