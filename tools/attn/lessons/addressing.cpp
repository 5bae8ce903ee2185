// A memory of four months, asked for a fifth: from an average over a soft look to a dictionary.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/nn/mechanisms/control/forced_attention.hpp"
#include "attn/nn/mechanisms/pooling/masked_softmax.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "tools/attn/lessons/lesson.hpp"

namespace attn::tools {
namespace {

/// Months lie on a circle, so that December is near January.
Tensor on_the_circle(const std::vector<double>& months) {
  std::vector<double> places;
  for (const double month : months) {
    const double angle = 2.0 * std::numbers::pi * (month - 1.0) / 12.0;
    places.push_back(std::cos(angle));
    places.push_back(std::sin(angle));
  }
  return Tensor::from(places, {1, static_cast<std::int64_t>(months.size()), 2});
}

/// The same look where part of the memory is empty, and where a hand is on the weights.
LessonTable changed_looks(const Tensor& may, const Tensor& keys, const Tensor& values) {
  const Tensor scores =
      attend(may, keys, {}, spec::dot(2.0), {}, spec::identity(), Want::weights).weights;
  const Tensor first_two =
      nn::masked_softmax(scores, Tensor::from(std::vector<std::int64_t>{2}, {1}));
  constexpr std::array kJanuary{true, false, false, false};
  const Attended forced = nn::forced_attention(
      scores, values,
      {.forced_mask = Tensor::from(std::span<const bool>(kJanuary), {1, 1, 4}),
       .forced_weight = of_numbers({0.5, 0.0, 0.0, 0.0}, {1, 1, 4})},
      {}, Want::output | Want::weights);
  const auto row = [&](const char* name, const Tensor& weights, const Tensor& output) {
    std::vector<double> numbers = numbers_of_row(weights, 0);
    numbers.push_back(output.item());
    return LessonRow{name, numbers};
  };
  return {"Sharpness 2 again, with a mask and with a hand on the weights",
          {"", "January 2", "April 12", "July 24", "October 14", "read"},
          {row("only two months known", first_two, matmul(first_two, values)),
           row("half of it on January", forced.weights, forced.output)}};
}

}  // namespace

LessonResult addressing_lesson() {
  const std::vector<std::string> months{"January", "April", "July", "October"};
  const Tensor keys = on_the_circle({1.0, 4.0, 7.0, 10.0});
  const Tensor values = of_numbers({2.0, 12.0, 24.0, 14.0}, {1, 4, 1});
  const Tensor may = on_the_circle({5.0});

  LessonTable soft{"May is asked for; softmax(sharpness q . k) of the keys, and what is read",
                   {"sharpness", "January 2", "April 12", "July 24", "October 14", "read"},
                   {}};
  std::vector<std::string> names;
  std::vector<Tensor> rows;
  for (const double sharpness : {0.0, 1.0, 2.0, 4.0, 16.0, 64.0}) {
    const Attended looked = attend(may, keys, values, spec::dot(sharpness), {}, spec::softmax(),
                                   Want::output | Want::weights);
    std::vector<double> numbers = numbers_of_row(looked.weights, 0);
    numbers.push_back(looked.output.item());
    names.push_back(fmt::format("{:g}", sharpness));
    soft.rows.push_back({names.back(), numbers});
    rows.push_back(looked.weights);
  }
  const Attended hard = attend(may, keys, values, spec::dot(), {}, spec::hard_argmax(),
                               Want::output | Want::weights);
  std::vector<double> numbers = numbers_of_row(hard.weights, 0);
  numbers.push_back(hard.output.item());
  soft.rows.push_back({"hard", numbers});
  names.emplace_back("hard");
  rows.push_back(hard.weights);

  LessonTable products{"Products q . k of May and the keys", soft.columns, {}};
  products.columns.pop_back();
  products.columns[0] = "";
  products.rows = {
      {"q . k",
       numbers_of_row(
           attend(may, keys, {}, spec::dot(), {}, spec::identity(), Want::weights).weights,
           0)}};

  LessonResult result;
  result.tables = {soft, products, changed_looks(may, keys, values)};
  result.remarks = {
      "A dictionary gives the value of one key; soft addressing mixes values by how near keys "
      "are, and so answers for keys that it does not hold.",
      "Sharpness 0 is the plain average; the sharper, the nearer to the dictionary. A soft "
      "look "
      "has a gradient, a hard one has none.",
      "A mask leaves keys out and the others share the whole weight. A weight that is forced "
      "stays what it is, and the others share the rest."};
  result.figure = maps::Alignment{
      .title = "Soft addressing: a memory asked for May",
      .caption =
          "The memory holds the temperature of four months. Rows differ in how sharply "
          "May is compared with the keys: from the plain average (0) to the nearest key "
          "alone (hard).",
      .rows = names,
      .columns = months,
      .row_title = "sharpness",
      .column_title = "keys",
      .weights = matrix_of(concat(rows, 1).squeeze(0))};
  return result;
}

}  // namespace attn::tools
