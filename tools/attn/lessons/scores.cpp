// One query, four keys, and the scores that papers compare them by.

// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <string>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "tools/attn/lessons/lesson.hpp"

namespace attn::tools {
namespace {

struct ScoredRow {
  std::string name;
  Tensor scores;   ///< [1, 1, keys]
  Tensor weights;  ///< the same
};

ScoredRow scored(const std::string& name, const Tensor& q, const Tensor& k,
                 const spec::Score& score) {
  const auto look = [&](const spec::Normaliser& normaliser) {
    return attend(q, k, {}, score, {}, normaliser, Want::weights).weights;
  };
  return {name, look(spec::identity()), look(spec::softmax())};
}

}  // namespace

LessonResult scores_lesson() {
  const std::vector<std::string> keys{"like q", "twice as long", "across", "against"};
  const Tensor q = of_numbers({1.0, 0.5}, {1, 1, 2});
  const Tensor k = of_numbers({1.0, 0.5, 2.0, 1.0, -0.5, 1.0, -1.0, -0.5}, {1, 4, 2});
  // What general and additive learn stands here by hand: W turns by a right angle.
  const Tensor w = of_numbers({0.0, 1.0, -1.0, 0.0}, {2, 2});
  const Tensor w_q = of_numbers({1.0, 0.0, 0.0, 1.0, 1.0, -1.0}, {3, 2});
  const Tensor w_k = of_numbers({1.0, 0.0, 0.0, 1.0, -1.0, 1.0}, {3, 2});
  const Tensor v = of_numbers({1.0, 1.0, -0.5}, {3});

  const std::vector<ScoredRow> all{
      scored("dot", q, k, spec::dot()),
      scored("scaled dot", q, k, spec::scaled_dot()),
      scored("cosine", q, k, spec::cosine()),
      scored("distance", q, k, spec::distance()),
      scored("general", matmul(q, w), k, spec::dot()),
      scored("additive", linear(q, w_q), linear(k, w_k), spec::additive(v))};
  // Luong's concat multiplies [q; k] by one matrix [W_q W_k].
  const Tensor both = concat({q.expand({1, 4, 2}), k}, 2);
  const Tensor joined = concat({w_q, w_k}, 1);
  const Tensor concat_scores = sum(tanh(linear(both, joined)) * v, 2);
  const double apart =
      sum(abs(concat_scores - all.back().scores.reshape(concat_scores.shape()))).item();

  LessonTable scores{"Scores of four keys for q = (1, 0.5)", {"score"}, {}};
  LessonTable weights{"Their weights, softmax(score)", {"score"}, {}};
  for (LessonTable* table : {&scores, &weights})
    table->columns.insert(table->columns.end(), keys.begin(), keys.end());
  std::vector<std::string> names;
  std::vector<Tensor> rows;
  for (const ScoredRow& row : all) {
    scores.rows.push_back({row.name, numbers_of_row(row.scores, 0)});
    weights.rows.push_back({row.name, numbers_of_row(row.weights, 0)});
    names.push_back(row.name);
    rows.push_back(row.weights);
  }
  LessonTable same{"Concat is additive with W = [W_q W_k]", {"", "difference"}, {}};
  same.rows.push_back({"sum over the keys", {apart}});

  LessonResult result;
  result.tables = {scores, weights, same};
  result.remarks = {
      "The dot product prefers long keys, the cosine cannot tell them, the distance prefers "
      "the "
      "key that lies nearest.",
      "General and additive scores have parameters: what counts as alike is learnt. Here W "
      "turns by a right angle, and the key across wins."};
  result.figure = maps::Alignment{
      .title = "Six scores of the same query and keys",
      .caption =
          "Each row is a score; its weights are softmax(score) over the four keys. W of "
          "general and additive are chosen by hand here; models learn them.",
      .rows = names,
      .columns = keys,
      .row_title = "score",
      .column_title = "keys",
      .weights = matrix_of(concat(rows, 1).squeeze(0))};
  return result;
}

}  // namespace attn::tools
