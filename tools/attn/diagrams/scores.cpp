// Four scoring functions as small machines, with the score of one key.

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>
#include <utility>

#include "attn/maps/map.hpp"
#include "tools/attn/diagrams/diagrams.hpp"
#include "tools/attn/lessons/lesson.hpp"

namespace attn::tools {

using maps::Part;
using maps::Role;

maps::Diagram scores_diagram() {
  const LessonTable scores = scores_lesson().tables.front();
  constexpr std::size_t kKey = 1;
  Sheet sheet(
      "Scoring functions",
      "From the bottom: a query q = (1, 0.5) and a key k = (2, 1) become one number, the "
      "score. Dot products have no parameters; W, W_q, W_k and v are learnt.");
  const double column = 165.0;
  const auto end = [&](double x, const std::string& name, const std::string& formula,
                       const std::string& row) {
    sheet.heading(x + 65.0, 12.0, name);
    sheet.note(x + 65.0, 32.0, formula);
    return sheet.part(x + 30.0, 50.0, 70.0, 32.0, two_digits(scores.row(row)[kKey]),
                      Role::score);
  };
  const auto inputs = [&](double x) {
    return std::pair{sheet.part(x, 290.0, 50.0, 32.0, "q", Role::query),
                     sheet.part(x + 80.0, 290.0, 50.0, 32.0, "k", Role::key)};
  };
  const auto join = [&](const Part& q, const Part& k, const Part& op) {
    sheet.arrow({above(q), {above(q).x, below(op).y}}, Role::query);
    sheet.arrow({above(k), {above(k).x, below(op).y}}, Role::key);
  };
  {
    const auto [q, k] = inputs(0.0);
    const Part score = end(0.0, "dot", "q · k", "dot");
    const Part op = sheet.part(0.0, 170.0, 130.0, 32.0, "·", Role::plain);
    join(q, k, op);
    sheet.arrow({above(op), below(score)}, Role::score);
  }
  {
    const auto [q, k] = inputs(column);
    const Part score = end(column, "scaled dot", "q · k / √d", "scaled dot");
    const Part op = sheet.part(column, 170.0, 130.0, 32.0, "·", Role::plain);
    const Part scale = sheet.part(column + 25.0, 112.0, 80.0, 32.0, "/ √2", Role::plain);
    join(q, k, op);
    sheet.arrow({above(op), below(scale)}, Role::score);
    sheet.arrow({above(scale), below(score)}, Role::score);
  }
  {
    const double x = 2.0 * column;
    const auto [q, k] = inputs(x);
    const Part score = end(x, "general", "q · W k", "general");
    const Part op = sheet.part(x, 170.0, 130.0, 32.0, "·", Role::plain);
    const Part w = sheet.part(x + 80.0, 230.0, 50.0, 32.0, "W", Role::output);
    sheet.arrow({above(q), {above(q).x, below(op).y}}, Role::query);
    sheet.arrow({above(k), below(w)}, Role::key);
    sheet.arrow({above(w), {above(w).x, below(op).y}}, Role::key);
    sheet.arrow({above(op), below(score)}, Role::score);
  }
  {
    const double x = 3.0 * column;
    const auto [q, k] = inputs(x);
    const Part score = end(x, "additive", "v · tanh(W_q q + W_k k)", "additive");
    const Part w_q = sheet.part(x, 230.0, 50.0, 32.0, "W_q", Role::output);
    const Part w_k = sheet.part(x + 80.0, 230.0, 50.0, 32.0, "W_k", Role::output);
    const Part sum = sheet.part(x, 170.0, 130.0, 32.0, "tanh( + )", Role::plain);
    const Part v = sheet.part(x + 40.0, 112.0, 50.0, 32.0, "v ·", Role::output);
    sheet.arrow({above(q), below(w_q)}, Role::query);
    sheet.arrow({above(k), below(w_k)}, Role::key);
    join(w_q, w_k, sum);
    sheet.arrow({above(sum), below(v)}, Role::score);
    sheet.arrow({above(v), below(score)}, Role::score);
  }
  return sheet.take();
}

}  // namespace attn::tools
