#include "tasks/faithful.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attn/tasks/calibration.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {
namespace {

using Tokens = std::vector<std::int64_t>;

/// Digits alone and in pairs, words, a mark, a byte, a piece with digits inside.
PairModel ruled(bool numbers, const std::string& marks) {
  const text::Tokeniser tokeniser(text::Units::subwords, {{"0"},
                                                          {"8"},
                                                          {"80"},
                                                          {"\u2581"},
                                                          {"\u2581port"},
                                                          {";"},
                                                          {"s;"},
                                                          {"a8b"},
                                                          {"8x"},
                                                          {"."}});
  auto calibration = std::make_shared<Calibration>();
  calibration->copies_numbers = numbers;
  calibration->copied_marks = marks;
  return {.task = "translate",
          .options = {},
          .limits = {},
          .source = tokeniser,
          .target = tokeniser,
          .model = nullptr,
          .history = "{}",
          .calibration = calibration};
}

enum Id : std::int64_t {
  zero = 4,
  eight,
  eighty,
  space,
  port,
  mark,
  mark_s,
  inside,
  eight_x,
  stop
};
constexpr std::size_t kTokens = 14;

std::vector<std::int64_t> allowed(const Faithful& rules, const Tokens& said) {
  std::vector<float> next(kTokens, -1.0f);
  rules.forbid(0, said, next);
  Tokens open;
  for (std::int64_t token = text::Mark::eos; token < static_cast<std::int64_t>(kTokens);
       ++token)
    if (token != text::Mark::unknown && std::isfinite(next[static_cast<std::size_t>(token)]))
      open.push_back(token);
  return open;
}

TEST(Faithful, WhereDigitsAloneAreCopiedATextWithoutThemIsFree) {
  PairModel model = ruled(false, "");
  auto calibration = std::make_shared<Calibration>(*model.calibration);
  calibration->copies_digits = true;
  model.calibration = calibration;
  const auto digits = [&](const std::string& text) {
    const std::vector<std::string> texts{text};
    const Tokens open = allowed(Faithful(model, pair_task_named("translate"), texts), {});
    return std::count(open.begin(), open.end(), zero) +
           std::count(open.begin(), open.end(), eighty);
  };
  EXPECT_EQ(digits("port"), 2) << "a word may become a number";
  EXPECT_EQ(digits("port 80"), 1) << "80, not 0";
}

TEST(Faithful, ANumberIsSaidWholeOrNotAtAll) {
  const PairModel model = ruled(true, "");
  const std::vector<std::string> texts{"port 8080."};
  const Faithful rules(model, pair_task_named("translate"), texts);
  ASSERT_TRUE(rules.has_rules());
  EXPECT_EQ(allowed(rules, {port, space}),
            (Tokens{text::Mark::eos, eight, eighty, space, port, mark, mark_s, stop}));
  EXPECT_EQ(allowed(rules, {port, space, eight}), (Tokens{zero}));
  EXPECT_EQ(allowed(rules, {port, space, eighty}), (Tokens{eight, eighty}));
  EXPECT_EQ(allowed(rules, {port, space, eighty, eighty}),
            (Tokens{text::Mark::eos, space, port, mark, mark_s, stop}));
}

TEST(Faithful, WithoutNumbersInTheTextNoDigitIsSaid) {
  const PairModel model = ruled(true, "");
  const std::vector<std::string> texts{"port"};
  const Faithful rules(model, pair_task_named("translate"), texts);
  EXPECT_EQ(allowed(rules, {port}), (Tokens{text::Mark::eos, space, port, mark, mark_s, stop}));
}

TEST(Faithful, ANumberThatCannotGoOnMayEnd) {
  const PairModel model = ruled(true, "");
  const std::vector<std::string> texts{"port 85"};  // no token writes 5
  const Faithful rules(model, pair_task_named("translate"), texts);
  EXPECT_FALSE(allowed(rules, {port, space, eight}).empty());
}

TEST(Faithful, MarksComeFromTheTextAlone) {
  const PairModel model = ruled(false, ";");
  const std::vector<std::string> without{"a port"};
  const std::vector<std::string> with{"a port; an 8"};
  const PairTask& task = pair_task_named("translate");
  const Tokens open = allowed(Faithful(model, task, without), {port});
  for (const std::int64_t token : {mark, mark_s})
    EXPECT_EQ(std::count(open.begin(), open.end(), token), 0) << token;
  EXPECT_EQ(open.size(), 9u);
  EXPECT_EQ(allowed(Faithful(model, task, with), {port}).size(), 11u);
}

TEST(Faithful, LostNumbersCost) {
  const PairModel model = ruled(true, "");
  const std::vector<std::string> texts{"8 of 80 and 8"};
  const Faithful translation(model, pair_task_named("translate"), texts);
  const Tokens both{eight, space, eighty};
  EXPECT_EQ(translation.fault(0, Tokens{eight, space, eighty, space, eight}), 0.0);
  EXPECT_GT(translation.fault(0, both), 0.0);
  EXPECT_DOUBLE_EQ(translation.fault(0, {}), 3.0 * translation.fault(0, both));
  // A summary may leave numbers out.
  EXPECT_EQ(Faithful(model, pair_task_named("summarise"), texts).fault(0, {}), 0.0);
}

TEST(Faithful, AModelThatWasNotCalibratedHasNoRules) {
  PairModel model = ruled(true, ";");
  model.calibration = nullptr;
  const std::vector<std::string> texts{"8"};
  EXPECT_FALSE(Faithful(model, pair_task_named("translate"), texts).has_rules());
  EXPECT_FALSE(Faithful(ruled(true, ""), pair_task_named("pronounce"), texts).has_rules());
}

TEST(Numbers, AreCountedAsOftenAsTheyAreInBoth) {
  const std::vector<std::string> texts{"2 of 2, port 8080", "none"};
  const std::vector<std::string> answers{"2, porta 80", "7"};
  const NumberCounts counts = count_numbers(texts, answers);
  EXPECT_EQ(counts.in_texts, 3u);
  EXPECT_EQ(counts.kept, 1u);
  EXPECT_EQ(counts.in_answers, 3u);
  EXPECT_EQ(counts.invented, 2u);
}

}  // namespace
}  // namespace attn::tasks
