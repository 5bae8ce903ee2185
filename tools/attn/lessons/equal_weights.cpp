// "Tom chases Jerry": with one context for all words each counts the same, with attention not.

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/nn/mechanisms/pooling/plain_pooling.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "tools/attn/lessons/lesson.hpp"

namespace attn::tools {
namespace {

double length_of(const Tensor& x) {
  return sqrt(sum(square(x))).item();
}

}  // namespace

LessonResult equal_weights_lesson() {
  const std::vector<std::string> source{"Tom", "chases", "Jerry"};
  const std::vector<std::string> target{"Tom", "insegue", "Jerry"};
  // States of the encoder: who, what is done, to whom. A decoder's query asks for one of them.
  const Tensor states = of_numbers({1.0, 0.1, 0.0, 0.1, 1.0, 0.1, 0.3, 0.1, 1.0}, {1, 3, 3});
  const Tensor queries = of_numbers({2.5, 0.0, 0.0, 0.0, 2.5, 0.0, 0.0, 0.0, 2.5}, {1, 3, 3});

  const Attended same = nn::average_pooling(states, {}, Want::output | Want::weights);
  const Tensor equal = same.weights.unsqueeze(1).expand({1, 3, 3}).contiguous();
  const Attended looked = attend(queries, states, states, spec::dot(), {}, spec::softmax(),
                                 Want::output | Want::weights);
  const auto between = [](const Tensor& contexts) {
    return length_of(contexts.select(1, 0) - contexts.select(1, 2));
  };
  const Tensor context = same.output.unsqueeze(1).expand({1, 3, 3});

  std::vector<std::string> columns{"writes"};
  columns.insert(columns.end(), source.begin(), source.end());
  LessonResult result;
  result.tables = {
      {"Without attention: one context, equal weights", columns, rows_of(target, equal)},
      {"With attention: a context for each word", columns, rows_of(target, looked.weights)},
      {"Distance between the contexts of the first and the last word",
       {"", "distance"},
       {{"without attention", {between(context)}},
        {"with attention", {between(looked.output)}}}}};
  result.remarks = {
      "With one context the decoder reads the same about the source whichever word it writes; "
      "with attention it reads what the word needs.",
      "The more words there are, the less of each is in an average: 1 / n."};
  std::vector<std::string> rows;
  // Few, and their number is not known before.
  // NOLINTNEXTLINE(performance-inefficient-vector-operation)
  for (const std::string& word : target) rows.push_back(word + ", one context");
  for (const std::string& word : target) rows.push_back(word + ", attention");
  result.figure = maps::Alignment{
      .title = "Equal weights, and attention",
      .caption =
          "Rows are the words as they are written, columns the words that were read. "
          "Above, every word of the source counts the same for every word of the target; "
          "below, each word looks at its own.",
      .rows = rows,
      .columns = source,
      .row_title = "written",
      .column_title = "read",
      .weights = matrix_of(concat({equal, looked.weights}, 1).squeeze(0))};
  return result;
}

}  // namespace attn::tools
