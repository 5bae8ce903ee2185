// One softmax gives one average; two heads look at two places and keep them apart.

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/mechanisms/composed/multi_dimensional_attention.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/tape.hpp"
#include "tools/attn/lessons/lesson.hpp"

namespace attn::tools {
namespace {

/// Multi-dimensional attention whose scores are `sharpness` times the features themselves: each
/// feature then has a softmax of its own.
nn::SourceToTokenAttention one_softmax_a_feature(std::int64_t features, double sharpness) {
  const NoGrad off_the_tape;
  nn::SourceToTokenAttention module({.dim = features});
  module.to(DType::f64);
  for (const nn::NamedTensor& parameter : module.named_parameters()) {
    Tensor to = parameter.tensor;
    to.fill(0.0);
    if (to.rank() < 2) continue;
    const double diagonal = parameter.name.starts_with("W2") ? sharpness : 1.0;
    for (std::int64_t i = 0; i < features; ++i) to.select(0, i).select(0, i).fill(diagonal);
  }
  return module;
}

}  // namespace

LessonResult heads_lesson() {
  const std::vector<std::string> words{"she", "gave", "him", "the", "book"};
  // Channels 0 and 1 tell who acts and what is given; "gave" asks for both.
  const Tensor keys = of_numbers({1.0, 0.0,   //
                                  0.0, 0.0,   //
                                  0.2, 0.1,   //
                                  0.0, 0.2,   //
                                  0.0, 1.0},  //
                                 {1, 1, 5, 2});
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const Tensor values = keys;
  const Tensor gave = of_numbers({6.0, 6.0}, {1, 1, 1, 2});
  const Want both = Want::output | Want::weights;
  const Attended one = attend(gave, keys, values, spec::dot(), {}, spec::softmax(), both);
  // The same channels, cut into two heads of one channel each.
  const auto cut = [](const Tensor& x) { return x.transpose(1, 3); };
  const Attended two =
      attend(cut(gave), cut(keys), cut(values), spec::dot(), {}, spec::softmax(), both);

  std::vector<std::string> columns{"head"};
  columns.insert(columns.end(), words.begin(), words.end());
  LessonTable weights{"Where \"gave\" looks", columns, {}};
  weights.rows = {{"one head", numbers_of_row(one.weights, 0)},
                  {"head 1 of 2", numbers_of_row(two.weights.select(1, 0), 0)},
                  {"head 2 of 2", numbers_of_row(two.weights.select(1, 1), 0)}};
  LessonTable read{"What it reads", {"", "who acts", "what is given"}, {}};
  read.rows = {{"one head", numbers_of_row(one.output, 0)},
               {"two heads", {two.output.select(1, 0).item(), two.output.select(1, 1).item()}}};
  LessonTable features{
      "Taken to its end: multi-dimensional attention, a softmax a feature", columns, {}};
  features.columns[0] = "feature";
  const nn::SourceLook each = one_softmax_a_feature(2, 6.0).forward(keys.squeeze(0));
  features.rows = {{"who acts", numbers_of_row(each.weights.transpose(1, 2), 0)},
                   {"what is given", numbers_of_row(each.weights.transpose(1, 2), 1)}};
  LessonTable size{"Parameters of attention over 64 channels",
                   {"heads", "channels a head", "parameters"},
                   {}};
  constexpr std::int64_t kDim = 64;
  for (const std::int64_t heads : {1, 2, 4, 8}) {
    const nn::MultiHeadAttention module({.query_dim = kDim,
                                         .key_dim = kDim,
                                         .value_dim = kDim,
                                         .hidden_dim = kDim,
                                         .heads = heads});
    size.rows.push_back(
        {std::to_string(heads),
         // NOLINTNEXTLINE(bugprone-integer-division)
         {static_cast<double>(kDim / heads), static_cast<double>(module.parameter_count())}});
  }

  LessonResult result;
  result.tables = {weights, read, size, features};
  result.remarks = {
      "One head splits its weight between two words and reads half of each; two heads read "
      "each "
      "of them nearly whole, side by side.",
      "Heads cut the channels, they add none: the number of parameters is the same."};
  result.figure = maps::Alignment{
      .title = "One head and two, for the word \"gave\"",
      .caption =
          "The query asks for who acts and for what is given. One softmax has to share its "
          "weight; two heads, each on half of the channels, look at one word each.",
      .rows = {"one head", "head 1 of 2", "head 2 of 2"},
      .columns = words,
      .row_title = "",
      .column_title = "keys",
      .weights = matrix_of(
          concat({one.weights.squeeze(1), two.weights.select(1, 0), two.weights.select(1, 1)},
                 1)
              .squeeze(0))};
  return result;
}

}  // namespace attn::tools
