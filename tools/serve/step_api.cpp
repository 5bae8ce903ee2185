#include "tools/serve/step_api.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "attn/files/printable.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/models/steering.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answer_json.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/row_steps.hpp"
#include "attn/text/tokeniser.hpp"
#include "tools/serve/fields.hpp"
#include "tools/serve/message.hpp"
#include "tools/serve/models.hpp"
#include "tools/serve/service.hpp"
#include "tools/serve/steering_field.hpp"

namespace attn::serve {
namespace {

constexpr std::size_t kLongestName = 200;
/// More than any model reads or writes.
constexpr std::size_t kMostTokens = 4096;
/// Further layers, heads and rows do not exist anywhere.
constexpr std::int64_t kMostPlaces = 4096;

template <class T>
nlohmann::json list_of(const std::vector<T>& numbers) {
  auto list = nlohmann::json::array();
  for (const T number : numbers) list.push_back(tasks::six_digits(static_cast<double>(number)));
  return list;
}

/// Tokens as answers name them. A text has no such tokens itself: the same letters may be cut
/// in several ways.
std::vector<std::int64_t> numbers_of(const std::vector<std::string>& names,
                                     const text::Tokeniser& tokeniser, const char* field) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(names.size());
  for (const std::string& name : names) {
    const auto number = tokeniser.find(name);
    if (!number)
      refuse(400, std::string("the field \"") + field + "\" has " + files::in_quotes(name) +
                      ", which is no token of this model; POST /api/answer gives the tokens "
                      "of an answer");
    numbers.push_back(*number);
  }
  if (numbers.empty() || numbers.back() != text::Mark::eos)
    refuse(400, std::string("the field \"") + field +
                    "\" must end with </s>, as the tokens of an answer do");
  return numbers;
}

nlohmann::json places_json(const std::vector<models::HeadPlace>& places) {
  auto list = nlohmann::json::array();
  for (const models::HeadPlace& one : places)
    list.push_back({{"part", tasks::part_name(one.part)},
                    {"layer", one.layer + 1},
                    {"head", one.head + 1}});
  return list;
}

/// The last layer of the part, unless one is named.
models::HeadPlace place_of(const Fields& fields, const std::vector<models::HeadPlace>& places) {
  const std::string name = fields.optional_text("part", kLongestName).value_or("cross");
  const auto part = tasks::part_named(name);
  if (!part)
    refuse(400, "the field \"part\" is " + files::in_quotes(name) +
                    "; encoder, decoder and cross are accepted");
  std::int64_t last = 1;
  for (const models::HeadPlace& one : places)
    if (one.part == *part) last = std::max(last, one.layer + 1);
  return {*part, fields.whole("layer", last, 1, kMostPlaces) - 1,
          fields.whole("head", 1, 1, kMostPlaces) - 1};
}

}  // namespace

nlohmann::json steps_json(const tasks::RowSteps& steps) {
  const std::size_t columns = steps.columns.size();
  const auto matrix = [&](const std::vector<float>& numbers) {
    return tasks::rows_json(std::span<const float>(numbers),
                            columns == 0 ? 0 : numbers.size() / columns);
  };
  auto masked = nlohmann::json::array();
  for (const bool open : steps.open) masked.push_back(!open);
  nlohmann::json json{{"part", tasks::part_name(steps.place.part)},
                      {"layer", steps.place.layer + 1},
                      {"head", steps.place.head + 1},
                      {"row", steps.row},
                      {"rows", steps.rows},
                      {"columns", steps.columns},
                      {"scores", list_of(steps.scores)},
                      {"masked", std::move(masked)},
                      {"largest", tasks::six_digits(steps.largest)},
                      {"exponentials", list_of(steps.exponentials)},
                      {"sum", tasks::six_digits(steps.sum)},
                      {"weights", list_of(steps.weights)},
                      {"values", matrix(steps.values)},
                      {"output", list_of(steps.output)}};
  if (!steps.factors.empty()) json["factors"] = list_of(steps.factors);
  if (!steps.query.empty()) {
    json["query"] = list_of(steps.query);
    json["keys"] = matrix(steps.keys);
    json["scale"] = tasks::six_digits(steps.scale);
  }
  return json;
}

Plan answer_step(const Service& service, const Request& request) {
  const Fields fields(
      request.body, {"task", "model", "source_tokens", "target_tokens", "part", "layer", "head",
                     "row", "temperature", "attention_temperature", "forbid", "force"});
  const std::string task = fields.text("task", kLongestName);
  const ServedModel& served =
      service.models().find(task, fields.optional_text("model", kLongestName));
  // What is not read yet is of a package, and none of those is of text pairs.
  const tasks::PairModel* pairs = served.ready() ? served.answerer().model().pairs() : nullptr;
  if (pairs == nullptr)
    refuse(400, "the model " + served.name() + " has no attention that can be stepped through");
  const tasks::PairModel& model = *pairs;
  tasks::Answer answer;
  answer.source =
      numbers_of(fields.texts("source_tokens", kMostTokens), model.source, "source_tokens");
  answer.target =
      numbers_of(fields.texts("target_tokens", kMostTokens), model.target, "target_tokens");
  answer.target.pop_back();  // the end, which row_steps adds itself
  for (const auto& [tokens, most, field] :
       {std::tuple(answer.source.size(), model.limits.source, "source_tokens"),
        std::tuple(answer.target.size(), model.limits.target, "target_tokens")})
    if (static_cast<std::int64_t>(tokens) > most + 1)
      refuse(400, std::string("the field \"") + field + "\" has " + std::to_string(tokens) +
                      " tokens; at most " + std::to_string(most) + " and the end are accepted");
  std::vector<models::HeadPlace> places = model.model->head_places();
  if (places.empty())
    refuse(400, "the model " + served.name() + " has no attention that can be stepped through");
  const models::HeadPlace place = place_of(fields, places);
  const std::int64_t row = fields.whole("row", 0, 0, kMostPlaces);
  models::Steering steering = steering_of(fields);
  return Plan([&model, answer = std::move(answer), places = std::move(places), place, row,
               steering = std::move(steering)] {
    nlohmann::json json = steps_json(tasks::row_steps(model, answer, place, row, steering));
    json["heads"] = places_json(places);
    return json_response(json);
  });
}

}  // namespace attn::serve
