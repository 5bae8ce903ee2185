#include "tasks/answer_map.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/models/steering.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/pair_model.hpp"
#include "tasks/heads.hpp"

namespace attn::tasks {
namespace {

/// Sums of roundings may pass 1 by an ulp or two; a map has weights in 0..1.
maps::Matrix matrix(std::size_t rows, std::size_t columns, std::vector<float> weights) {
  for (float& weight : weights) weight = std::clamp(weight, 0.0f, 1.0f);
  return {rows, columns, std::move(weights)};
}

std::string about(const PairModel& model) {
  std::string text = "attn " + model.task;
  text += ", model ";
  text += kind_of(model);
  return text;
}

}  // namespace

maps::Alignment answer_map(const PairModel& model, const Answer& answer) {
  if (answer.weights.empty() && !answer.target.empty())
    fail("attn::tasks::answer_map: a model of the kind ", kind_of(model),
         " has no attention to draw");
  maps::Alignment map{.title = answer.text,
                      .caption = about(model) +
                                 ": how much each token of the answer (rows) looked at each "
                                 "token it was given (columns)",
                      .rows = target_labels(model, answer),
                      .columns = labels(model.source, answer.source),
                      .row_title = "answer",
                      .column_title = "text",
                      .weights = {}};
  // An empty text is answered without looking.
  if (answer.weights.empty()) map.rows.clear();
  map.weights = matrix(map.rows.size(), map.columns.size(), answer.weights);
  return map;
}

maps::Heads heads_map(const PairModel& model, const Answer& answer,
                      const models::Steering& steering, std::string_view part) {
  // The encoder has seen the text alone.
  const bool of_text = part == "encoder";
  maps::Heads map{.title = of_text ? model.source.decode(answer.source) : answer.text,
                  .caption = about(model) +
                             ": each head of each layer; rows look at columns. The encoder and "
                             "the decoder look at themselves, cross looks at the text",
                  .rows = target_labels(model, answer),
                  .columns = labels(model.source, answer.source),
                  .maps = {}};
  for (HeadWeights& head : heads(model, answer, steering)) {
    if (!part.empty() && head.part != part) continue;
    const std::size_t rows = head.rows.size();
    const std::size_t columns = head.columns.size();
    map.maps.push_back({.part = head.part,
                        .layer = head.layer,
                        .head = head.head,
                        .weights = matrix(rows, columns, std::move(head.weights)),
                        .rows = std::move(head.rows),
                        .columns = std::move(head.columns)});
  }
  if (map.maps.empty())
    fail("attn::tasks::heads_map: a model of the kind ", kind_of(model),
         " has no heads; transformer is accepted");
  return map;
}

}  // namespace attn::tasks
