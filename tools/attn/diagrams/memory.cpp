// One look: a wish among things on a desk, and a month among months.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <cstddef>
#include <string>
#include <vector>

#include "attn/maps/map.hpp"
#include "tools/attn/diagrams/diagrams.hpp"
#include "tools/attn/lessons/lesson.hpp"

namespace attn::tools {

using maps::Role;

maps::Diagram cues_diagram() {
  const LessonTable weights = cues_lesson().tables.front();
  Sheet sheet("Cues: a wish looks at five things on a desk",
              "Keys are what is there, a query is what is wanted. The thicker an arrow, the "
              "larger its weight, softmax(q · k). Without a query all five weights are 0.20.");
  const std::vector<double>& wish = weights.row("I want to read");
  const maps::Part query = sheet.part(220.0, 190.0, 180.0, 44.0, "I want to read", Role::query,
                                      "query: a volitional cue");
  sheet.heading(310.0, 12.0, "keys: what is on the desk");
  for (std::size_t i = 0; i < wish.size(); ++i) {
    const maps::Part key = sheet.part(10.0 + 125.0 * static_cast<double>(i), 34.0, 100.0, 36.0,
                                      weights.columns[i + 1], Role::key);
    sheet.arrow({{above(query).x + 30.0 * (static_cast<double>(i) - 2.0), above(query).y},
                 {below(key).x, below(key).y + 3.0}},
                Role::query, two_digits(wish[i]), static_cast<float>(wish[i]));
  }
  return sheet.take();
}

maps::Diagram query_key_value_diagram() {
  constexpr double kSharpness = 2.0;
  const std::vector<LessonTable> tables = addressing_lesson().tables;
  const LessonTable& soft = tables[0];
  const std::vector<double>& products = tables[1].row("q . k");
  const std::vector<double>& weights = soft.row("2");
  const std::vector<std::string> months{"January", "April", "July", "October"};
  Sheet sheet(
      "Queries, keys, values",
      "A memory of four months is asked for May. Each key is compared with the query; "
      "softmax turns the scores into weights that sum to 1; the output is the average of "
      "the values by these weights.");
  const double height = 50.0;
  const auto row = [&](std::size_t i) { return 40.0 + height * static_cast<double>(i); };
  const double bottom = row(4);
  sheet.heading(48.0, 14.0, "keys");
  sheet.heading(190.0, 14.0, "scores");
  sheet.heading(420.0, 14.0, "weights");
  sheet.heading(535.0, 14.0, "values");
  const maps::Part query =
      sheet.part(0.0, bottom + 22.0, 96.0, 36.0, "May", Role::query, "query");
  const maps::Part softmax =
      sheet.part(265.0, row(0), 80.0, bottom - row(0) - 14.0, "softmax", Role::plain);
  const maps::Part sum =
      sheet.part(605.0, row(0), 40.0, bottom - row(0) - 14.0, "Σ", Role::plain);
  for (std::size_t i = 0; i < months.size(); ++i) {
    const maps::Part key = sheet.part(0.0, row(i), 96.0, 34.0, months[i], Role::key);
    const maps::Part score = sheet.part(160.0, row(i), 62.0, 34.0,
                                        two_digits(kSharpness * products[i]), Role::score);
    const maps::Part weight =
        sheet.part(390.0, row(i), 60.0, 34.0, two_digits(weights[i]), Role::score);
    const std::string degrees = soft.columns[i + 1].substr(soft.columns[i + 1].find(' ') + 1);
    const maps::Part value =
        sheet.part(500.0, row(i), 70.0, 34.0, degrees + " °C", Role::value);
    const double y = left_of(score).y;
    sheet.arrow({{right_of(key).x, y - 6.0}, {left_of(score).x, y - 6.0}}, Role::key);
    sheet.arrow({right_of(query),
                 {130.0, right_of(query).y},
                 {130.0, y + 7.0},
                 {left_of(score).x, y + 7.0}},
                Role::query);
    sheet.arrow({right_of(score), {softmax.x, y}}, Role::score);
    sheet.arrow({{softmax.x + softmax.width, y}, left_of(weight)}, Role::score);
    sheet.arrow({right_of(weight), left_of(value)}, Role::score, "×");
    sheet.arrow({right_of(value), {sum.x, y}}, Role::value);
  }
  const maps::Part output =
      sheet.part(580.0, bottom + 22.0, 90.0, 36.0, two_digits(weights.back()) + " °C",
                 Role::output, "output");
  sheet.arrow({below(sum), above(output)}, Role::output);
  return sheet.take();
}

}  // namespace attn::tools
