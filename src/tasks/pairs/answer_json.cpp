#include "attn/tasks/answer_json.hpp"

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "attn/maps/map.hpp"
#include "attn/models/steering.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/task.hpp"
#include "tasks/heads.hpp"

namespace attn::tasks {
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

nlohmann::json heads_json(const PairModel& model, const Answer& answer,
                          const models::Steering& steering) {
  auto list = nlohmann::json::array();
  for (const maps::Head& head : heads(model, answer, steering))
    list.push_back({{"part", head.part},
                    {"layer", head.layer},
                    {"head", head.head},
                    {"rows", head.rows.value_or(maps::Labels())},
                    {"columns", head.columns.value_or(maps::Labels())},
                    {"weights", rows_json(head.weights.values, head.weights.columns)}});
  return list;
}

nlohmann::json answer_json(const PairModel& model, const Answer& answer, bool cut,
                           Detail detail) {
  nlohmann::json json{{"text", answer.text},
                      {"score", answer.score},
                      {"log_probability", answer.log_probability},
                      {"finished", answer.finished},
                      {"cut", cut}};
  if (detail == Detail::none) return json;
  json["source_tokens"] = labels(model.source, answer.source);
  json["target_tokens"] = target_labels(model, answer);
  json["weights"] = rows_json(answer.weights, answer.source.size());
  return json;
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

nlohmann::json reply_json(const PairModel& model, const Reply& reply, Detail detail) {
  auto pieces = nlohmann::json::array();
  for (const Piece& piece : reply.pieces) {
    auto answers = nlohmann::json::array();
    for (const Answer& answer : piece.answers) {
      nlohmann::json json = answer_json(model, answer, piece.cut, detail);
      if (detail == Detail::heads) json["heads"] = heads_json(model, answer, piece.steering);
      answers.push_back(std::move(json));
    }
    pieces.push_back(
        {{"source", piece.source}, {"cut", piece.cut}, {"answers", std::move(answers)}});
  }
  auto answers = nlohmann::json::array();
  if (reply.pieces.size() == 1) {
    answers = pieces.front().at("answers");
  } else {
    for (const Answer& answer : reply.answers)
      answers.push_back(answer_json(model, answer, reply.cut, detail));
  }
  return {{"answers", std::move(answers)},
          {"pieces", std::move(pieces)},
          {"unfamiliar", reply.unfamiliar},
          {"cut", reply.cut},
          {"notes", reply.notes}};
}

}  // namespace attn::tasks
