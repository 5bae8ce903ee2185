#include "attn/tasks/row_steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/models/seq2seq.hpp"
#include "attn/models/steering.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/heads.hpp"

namespace attn::tasks {
namespace {

using Part = models::Head::Part;

template <class T>
std::vector<T> numbers(const Tensor& x) {
  return x.defined() ? x.to_vector<T>() : std::vector<T>{};
}

}  // namespace

std::string part_name(Part part) {
  switch (part) {
    case Part::encoder:
      return "encoder";
    case Part::decoder:
      return "decoder";
    case Part::cross:
      return "cross";
  }
  return {};
}

std::optional<Part> part_named(std::string_view name) {
  for (const Part part : {Part::encoder, Part::decoder, Part::cross})
    if (part_name(part) == name) return part;
  return std::nullopt;
}

RowSteps row_steps(const PairModel& model, const Answer& answer, const models::HeadPlace& place,
                   std::int64_t row, const models::Steering& steering) {
  const std::vector<EncodedPair> pair{{answer.source, answer.target}};
  const models::HeadRow read = model.model->head_row(collate(pair, {0}), place, row, steering);
  std::vector<std::int64_t> before{text::Mark::bos};
  before.insert(before.end(), answer.target.begin(), answer.target.end());

  RowSteps steps;
  steps.place = place;
  steps.row = row;
  steps.rows = place.part == Part::encoder ? labels(model.source, answer.source)
                                           : target_labels(model, answer);
  steps.columns = place.part == Part::decoder ? labels(model.target, before)
                                              : labels(model.source, answer.source);
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
