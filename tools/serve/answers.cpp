#include "tools/serve/answers.hpp"

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/models/look.hpp"
#include "attn/models/search.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/heads.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/task.hpp"

namespace attn::serve {
namespace {

template <class T>
nlohmann::json rows_of(std::span<const T> weights, std::size_t columns) {
  auto rows = nlohmann::json::array();
  for (std::size_t at = 0; at + columns <= weights.size() && columns > 0; at += columns) {
    auto row = nlohmann::json::array();
    for (const T weight : weights.subspan(at, columns)) row.push_back(six_digits(weight));
    rows.push_back(std::move(row));
  }
  return rows;
}

nlohmann::json heads_json(const tasks::PairModel& model, const tasks::Answer& answer,
                          const models::Look& look) {
  auto list = nlohmann::json::array();
  for (const tasks::HeadWeights& head : tasks::heads(model, answer, look))
    list.push_back({{"part", head.part},
                    {"layer", head.layer},
                    {"head", head.head},
                    {"rows", head.rows},
                    {"columns", head.columns},
                    {"weights", rows_json(head.weights, head.columns.size())}});
  return list;
}

}  // namespace

double six_digits(double value) {
  constexpr double kSteps = 1e6;
  return std::round(value * kSteps) / kSteps;
}

nlohmann::json rows_json(std::span<const float> weights, std::size_t columns) {
  return rows_of(weights, columns);
}

nlohmann::json rows_json(std::span<const double> weights, std::size_t columns) {
  return rows_of(weights, columns);
}

nlohmann::json answers_json(const tasks::PairModel& model, const std::string& text,
                            const models::SearchOptions& options, Heads heads) {
  const tasks::Task& task = tasks::task_named(model.task);
  const std::vector<std::string> texts{task.prepare ? task.prepare(text) : text};
  const std::size_t tokens = model.source.encode(texts.front()).size() + 1;  // and eos
  auto list = nlohmann::json::array();
  const auto answers = tasks::answer(model, texts, options);
  for (const tasks::Answer& answer : answers.front()) {
    nlohmann::json json{{"text", answer.text},
                        {"score", answer.score},
                        {"log_probability", answer.log_probability},
                        {"finished", answer.finished},
                        {"cut", answer.source.size() < tokens},
                        {"source_tokens", tasks::labels(model.source, answer.source)},
                        {"target_tokens", tasks::target_labels(model, answer)},
                        {"weights", rows_json(answer.weights, answer.source.size())}};
    if (heads == Heads::yes) json["heads"] = heads_json(model, answer, options.look);
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace attn::serve
