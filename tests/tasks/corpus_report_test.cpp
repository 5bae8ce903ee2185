#include "attn/tasks/corpus_report.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {
namespace {

TEST(CorpusReport, LengthsAreOrderStatistics) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 100; i >= 1; --i) lengths.push_back(i);
  const Lengths report = lengths_of(lengths);
  EXPECT_DOUBLE_EQ(report.mean, 50.5);
  EXPECT_EQ(report.median, 50u);
  EXPECT_EQ(report.most, 95u);
  EXPECT_EQ(report.longest, 100u);
  EXPECT_EQ(lengths_of({7}).median, 7u);
  EXPECT_EQ(lengths_of({7}).most, 7u);
  EXPECT_EQ(lengths_of({}).longest, 0u);
}

TEST(CorpusReport, RepetitionsAndLeaksAreCounted) {
  const Corpus corpus{.name = "made",
                      .train = {{"1", "a b", {"x"}},
                                {"2", "a b", {"y"}},
                                {"3", "a b", {"x"}},
                                {"4", "è", {"z", "zz"}}},
                      .development = {},
                      .test = {{"5", "a b", {"new"}}, {"6", "other", {"z"}}},
                      .notes = {}};
  const CorpusReport report = report_on(corpus);
  ASSERT_EQ(report.parts.size(), 3u);
  const PartReport& train = report.parts[0];
  EXPECT_EQ(train.examples, 4u);
  EXPECT_EQ(train.repeated_sources, 2u);
  EXPECT_EQ(train.repeated_pairs, 1u);
  EXPECT_EQ(train.more_targets, 1u);
  EXPECT_DOUBLE_EQ(train.source.characters.mean, 2.5);
  EXPECT_EQ(train.source.tokens.longest, 2u);
  EXPECT_EQ(report.parts[1].examples, 0u);
  ASSERT_EQ(report.leaks.size(), 3u);
  EXPECT_EQ(report.leaks[1].from, "train");
  EXPECT_EQ(report.leaks[1].to, "test");
  EXPECT_EQ(report.leaks[1].sources, 1u);
  EXPECT_EQ(report.leaks[1].targets, 1u);
  EXPECT_EQ(report.leaks[2].sources, 0u);
}

TEST(CorpusReport, PartsAreReadInThePlaceOfASource) {
  const auto example = [](const char* premise) {
    return Example{"1", "", {"x"}, {{"hypothesis", "c"}, {"premise", premise}}};
  };
  const Corpus corpus{.name = "parts",
                      .train = {example("a b"), example("d")},
                      .development = {},
                      .test = {example("a b"), example("e")},
                      .notes = {}};
  const CorpusReport report = report_on(corpus);
  EXPECT_EQ(report.parts[0].repeated_sources, 0u);
  EXPECT_EQ(report.parts[0].source.tokens.longest, 3u);
  EXPECT_EQ(report.leaks[1].sources, 1u);
}

}  // namespace
}  // namespace attn::tasks
