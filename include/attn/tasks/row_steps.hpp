/// One row of one head while a model gave an answer, with every number on the way: scores,
/// mask, softmax, sum.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/models/seq2seq.hpp"
#include "attn/models/steering.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/pair_model.hpp"

namespace attn::tasks {

/// "encoder", "decoder" or "cross".
std::string part_name(models::Head::Part part);
std::optional<models::Head::Part> part_named(std::string_view name);

/// weight_j = factor_j exp(score_j - largest) / sum over the open keys, and output = sum of
/// weight_j value_j.
struct RowSteps {
  models::HeadPlace place;
  std::int64_t row = 0;  ///< from 0
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<float> query;  ///< [channels]; empty unless a score is scale * query . key
  std::vector<float> keys;   ///< [columns, channels]; so
  double scale = 1.0;
  std::vector<double> scores;        ///< [columns], before the mask
  std::vector<bool> open;            ///< [columns]: those that the mask leaves
  double largest = 0.0;              ///< open score; 0 where none is open
  std::vector<double> exponentials;  ///< [columns]; 0 where it is masked
  double sum = 0.0;                  ///< of them
  std::vector<double> factors;       ///< [columns]; empty: all are 1
  std::vector<float> weights;        ///< [columns], as the model had them
  std::vector<float> values;         ///< [columns, value channels]
  std::vector<float> output;         ///< [value channels], as the model had it
};

/// The answer's source and target are read again, as `steering` steered it; rows and columns
/// are those of heads(). InvalidArgument for a head or a row that the model does not have.
RowSteps row_steps(const PairModel& model, const Answer& answer, const models::HeadPlace& place,
                   std::int64_t row, const models::Steering& steering = {});

}  // namespace attn::tasks
