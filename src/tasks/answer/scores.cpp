#include "tasks/answer/scores.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/caption/caption_training.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/answer/data.hpp"
#include "tasks/answer/regions.hpp"
#include "tasks/pictures.hpp"

namespace attn::tasks::vqa {
namespace {

double percent(double part, double whole) {
  return whole > 0.0 ? 100.0 * part / whole : 0.0;
}

bool is_yes_no(const Example& example) {
  return example.targets.front() == "yes" || example.targets.front() == "no";
}

/// How much of `one` lies in `other`, of 1.
double share_of(const Box& one, const Box& other) {
  const auto shared = [](std::int64_t a, std::int64_t length, std::int64_t b,
                         std::int64_t other_length) {
    return std::max<std::int64_t>(0, std::min(a + length, b + other_length) - std::max(a, b));
  };
  return static_cast<double>(shared(one.x, one.width, other.x, other.width) *
                             shared(one.y, one.height, other.y, other.height)) /
         static_cast<double>(std::max<std::int64_t>(1, one.width * one.height));
}

/// The weight inside the right box; none where there is no box or no weight.
std::optional<double> inside_of(const Example& example, const Answer& answer) {
  const auto at = answer.numbers.find("question_places");
  if (example.boxes.empty() || at == answer.numbers.end()) return std::nullopt;
  const Picture& picture = std::get<Picture>(example.parts.at(kPicture));
  const std::vector<Box> regions = regions_of(in_colour(picture));
  const std::vector<float>& weights = at->second;
  if (weights.size() != regions.size()) return share_inside(weights, example.boxes.front());
  double inside = 0.0;
  for (std::size_t i = 0; i < regions.size(); ++i)
    inside += static_cast<double>(weights[i]) * share_of(regions[i], example.boxes.front());
  return inside;
}

/// A learner's example has several questions, an exam one.
std::vector<std::pair<std::string, std::string>> asked_in(const Example& example) {
  std::vector<std::pair<std::string, std::string>> asked;
  const auto table = example.parts.find(kQuestions);
  if (table == example.parts.end()) {
    asked.emplace_back(std::get<std::string>(example.parts.at(kQuestion)),
                       example.targets.front());
    return asked;
  }
  for (const auto& row : std::get<Table>(table->second).rows)
    asked.emplace_back(std::get<std::string>(row.at(0)), std::get<std::string>(row.at(1)));
  return asked;
}

using Counts = std::map<std::string, std::size_t>;

std::string commonest(const Counts& counts) {
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? "" : most->first;
}

}  // namespace

Scores score_answers(std::span<const Example> examples, std::span<const Reply> replies) {
  if (examples.size() != replies.size())
    fail("attn answer: ", replies.size(), " replies to ", examples.size(), " questions");
  double right[2] = {};
  double all[2] = {};
  double inside = 0.0;
  double boxes = 0.0;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const Answer& answer = replies[i].answers.front();
    const std::size_t kind = is_yes_no(examples[i]) ? 0 : 1;
    all[kind] += 1.0;
    right[kind] += answer.text == examples[i].targets.front() ? 1.0 : 0.0;
    if (const auto share = inside_of(examples[i], answer)) {
      inside += *share;
      boxes += 1.0;
    }
  }
  Scores scores{{"accuracy", percent(right[0] + right[1], all[0] + all[1])},
                {"yes-no", percent(right[0], all[0])},
                {"open", percent(right[1], all[1])}};
  if (boxes > 0.0) scores.push_back({"inside", percent(inside, boxes)});
  return scores;
}

std::vector<Baseline> baselines(const Corpus& corpus) {
  if (corpus.train.empty() || corpus.test.empty()) return {};
  Counts answers;
  std::map<std::string, Counts> by_question;
  for (const Example& example : corpus.train)
    for (const auto& [question, answer] : asked_in(example)) {
      ++answers[answer];
      ++by_question[question][answer];
    }
  const std::string most = commonest(answers);
  double plain = 0.0;
  double asked = 0.0;
  for (const Example& example : corpus.test)
    for (const auto& [question, answer] : asked_in(example)) {
      plain += answer == most ? 1.0 : 0.0;
      const auto at = by_question.find(question);
      asked += answer == (at == by_question.end() ? most : commonest(at->second)) ? 1.0 : 0.0;
    }
  const auto count = static_cast<double>(corpus.test.size());
  return {{"the commonest answer", {{"accuracy", percent(plain, count)}}},
          {"the commonest answer to the same question", {{"accuracy", percent(asked, count)}}}};
}

}  // namespace attn::tasks::vqa
