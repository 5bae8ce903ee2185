#include "tasks/heads.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/models/steering.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/row_steps.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {
namespace {

using Part = models::Head::Part;

constexpr std::pair<Part, std::string_view> kParts[] = {
    {Part::encoder, "encoder"}, {Part::decoder, "decoder"}, {Part::cross, "cross"}};

models::Batch batch_of(const Answer& answer) {
  const std::vector<EncodedPair> pair{{answer.source, answer.target}};
  return collate(pair, {0});
}

maps::Labels rows_of(const PairModel& model, const Answer& answer, Part part) {
  return part == Part::encoder ? labels(model.source, answer.source)
                               : target_labels(model, answer);
}

maps::Labels columns_of(const PairModel& model, const Answer& answer, Part part) {
  if (part != Part::decoder) return labels(model.source, answer.source);
  std::vector<std::int64_t> before{text::Mark::bos};
  before.insert(before.end(), answer.target.begin(), answer.target.end());
  return labels(model.target, before);
}

/// Sums of roundings may pass 1 by an ulp or two; a map has weights in 0..1.
maps::Matrix matrix(std::size_t rows, std::size_t columns, std::vector<float> weights) {
  for (float& weight : weights) weight = std::clamp(weight, 0.0f, 1.0f);
  return {rows, columns, std::move(weights)};
}

std::string about(const PairModel& model) {
  return "attn " + model.task + ", model " + kind_of(model);
}

template <class T>
std::vector<T> numbers(const Tensor& x) {
  return x.defined() ? x.to_vector<T>() : std::vector<T>{};
}

}  // namespace

maps::Labels labels(const text::Tokeniser& tokeniser, const std::vector<std::int64_t>& tokens) {
  maps::Labels list;
  list.reserve(tokens.size());
  for (const std::int64_t token : tokens) list.push_back(tokeniser.label(token));
  return list;
}

maps::Labels target_labels(const PairModel& model, const Answer& answer) {
  std::vector<std::int64_t> written = answer.target;
  written.push_back(text::Mark::eos);
  return labels(model.target, written);
}

std::vector<maps::Head> heads(const PairModel& model, const Answer& answer,
                              const models::Steering& steering) {
  std::vector<maps::Head> all;
  for (const models::Head& head : model.model->heads(batch_of(answer), steering)) {
    const maps::Labels rows = rows_of(model, answer, head.part);
    const maps::Labels columns = columns_of(model, answer, head.part);
    const Tensor weights = head.weights.to(DType::f32).to(Device::cpu).contiguous();
    all.push_back({.part = part_name(head.part),
                   .layer = head.layer + 1,
                   .head = head.head + 1,
                   .weights = matrix(rows.size(), columns.size(), weights.to_vector<float>()),
                   .rows = rows,
                   .columns = columns});
  }
  return all;
}

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
                  .maps = heads(model, answer, steering)};
  if (!part.empty())
    std::erase_if(map.maps, [&](const maps::Head& head) { return head.part != part; });
  if (map.maps.empty())
    fail("attn::tasks::heads_map: a model of the kind ", kind_of(model),
         " has no heads; transformer is accepted");
  return map;
}

std::string part_name(Part part) {
  for (const auto& [known, name] : kParts)
    if (known == part) return std::string(name);
  return {};
}

std::optional<Part> part_named(std::string_view name) {
  for (const auto& [part, known] : kParts)
    if (known == name) return part;
  return std::nullopt;
}

RowSteps row_steps(const PairModel& model, const Answer& answer, const models::HeadPlace& place,
                   std::int64_t row, const models::Steering& steering) {
  const models::HeadRow read = model.model->head_row(batch_of(answer), place, row, steering);
  RowSteps steps;
  steps.place = place;
  steps.row = row;
  steps.rows = rows_of(model, answer, place.part);
  steps.columns = columns_of(model, answer, place.part);
  steps.query = numbers<float>(read.query);
  steps.keys = numbers<float>(read.keys);
  steps.scale = read.scale;
  steps.scores = numbers<double>(read.scores);
  steps.factors = numbers<double>(read.factors);
  steps.weights = numbers<float>(read.weights);
  steps.values = numbers<float>(read.values);
  steps.output = numbers<float>(read.output);
  const bool* open = read.open.data<bool>();
  steps.open.assign(open, open + read.open.numel());
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < steps.scores.size(); ++j)
    if (steps.open[j]) largest = std::max(largest, steps.scores[j]);
  if (std::isfinite(largest)) steps.largest = largest;
  for (std::size_t j = 0; j < steps.scores.size(); ++j) {
    steps.exponentials.push_back(steps.open[j] ? std::exp(steps.scores[j] - steps.largest)
                                               : 0.0);
    steps.sum += steps.exponentials.back();
  }
  return steps;
}

}  // namespace attn::tasks
