// "the dog bites the man": who bites whom is lost without positions.

// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/maps/map.hpp"
#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/position/alibi.hpp"
#include "attn/nn/position/learned_position.hpp"
#include "attn/nn/position/relative_shaw.hpp"
#include "attn/nn/position/relative_skew.hpp"
#include "attn/nn/position/rotary.hpp"
#include "attn/nn/position/sinusoidal_encoding.hpp"
#include "attn/nn/position/t5_bias.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "tools/attn/lessons/lesson.hpp"

namespace attn::tools {
namespace {

using Ids = std::vector<std::int64_t>;

constexpr std::int64_t kDim = 16;
const std::vector<std::string> kWords{"the", "dog", "bites", "the", "man"};
const Ids kDogBites{0, 1, 2, 0, 3};
const Ids kManBites{0, 3, 2, 0, 1};

double largest(const Tensor& x) {
  return max(abs(x).flatten(0, x.rank() - 1), 0).values.item();
}

/// Self-attention of a sentence, and its output summed up to one vector.
struct Reading {
  Tensor weights;
  Tensor summary;
};

Reading read(const Tensor& words) {
  const Attended looked = attend(words, words, words, spec::scaled_dot(), {}, spec::softmax(),
                                 Want::output | Want::weights);
  return {looked.weights, mean(looked.output, 1)};
}

/// How much the loss of a Transformer with fresh parameters changes with the order of the
/// source.
double loss_change(models::Positions positions) {
  constexpr std::int64_t kWordsKnown = 8;  // four are marks
  nn::seed(3);
  const auto model = models::make_model({.kind = models::Kind::transformer,
                                         .source_vocabulary = kWordsKnown,
                                         .target_vocabulary = kWordsKnown,
                                         .dim = kDim,
                                         .heads = 2,
                                         .feed_forward = 32,
                                         .dropout = 0.0,
                                         .positions = positions,
                                         .tie = models::Tie::none});
  model->eval();
  model->to(DType::f64);
  const NoGrad off_the_tape;
  const auto loss = [&](Ids source) {
    for (std::int64_t& word : source) word += models::kUnknown + 1;
    const Ids target{4, 5, models::kEos};
    const Ids input{models::kBos, 4, 5};
    return model
        ->loss({Tensor::from(source, {1, 5}), Tensor::from(Ids{5}, {1}),
                Tensor::from(input, {1, 3}), Tensor::from(target, {1, 3})})
        .item();
  };
  return std::fabs(loss(kDogBites) - loss(kManBites));
}

/// Modules begin with draws; the same ones on every machine.
template <class Module>
Module drawn(Module module) {
  module.to(DType::f64);
  return module;
}

/// Four equal words, one head: what the last of them looks at differs by their distance alone.
LessonTable weights_by_distance() {
  constexpr std::int64_t kCopies = 4;
  constexpr std::int64_t kHeads = 4;  // ALiBi's first slope is 1/4 then
  Random random(8);
  const Tensor word = normal({1, 1, kDim}, 0.0, 1.0, random, DType::f64);
  const Tensor words = word.expand({1, kCopies, kDim}).contiguous();
  const Tensor heads = words.unsqueeze(1);
  const auto row = [](const Tensor& weights) {
    return numbers_of_row(weights.select(1, 0), kCopies - 1);
  };
  const auto alone = [&](const Tensor& q, const Tensor& k) {
    return row(
        attend(q, k, {}, spec::scaled_dot(), {}, spec::softmax(), Want::weights).weights);
  };
  const auto added = [&](const Tensor& x) { return alone(x.unsqueeze(1), x.unsqueeze(1)); };

  nn::seed(7);
  const nn::LearnedPosition learnt =
      drawn(nn::LearnedPosition({.max_positions = kCopies, .dim = kDim}));
  const nn::RelativeShaw shaw =
      drawn(nn::RelativeShaw({.key_dim = kDim, .value_dim = 0, .max_distance = kCopies - 1}));
  const nn::RelativeSkew skew = drawn(
      nn::RelativeSkew({.length = kCopies, .dim = kDim, .heads = 0, .reach = nn::Reach::both}));
  const nn::T5Bias t5 = drawn(nn::T5Bias({.heads = 1}));
  const nn::Rotated turned = nn::rotate(heads, heads);
  const Tensor several = heads.expand({1, kHeads, kCopies, kDim}).contiguous();

  return {
      "Where the last of four equal words looks",
      {"position by", "3 back", "2 back", "1 back", "itself"},
      {{"nothing", added(words)},
       {"sinusoids added", added(nn::sinusoidal_encoding(words))},
       {"learnt vectors added", added(learnt(words))},
       {"rotation", alone(turned.queries, turned.keys)},
       {"Shaw's distances", row(shaw.forward(heads, heads, heads, {}, Want::weights).weights)},
       {"Music Transformer's",
        row(skew.forward(heads, heads, heads, {}, Want::weights).attended.weights)},
       {"T5's bias", row(t5.forward(heads, heads, heads, {}, Want::weights).weights)},
       {"ALiBi",
        row(nn::alibi_attention(several, several, several, {}, Want::weights).weights)}}};
}

maps::Grid grid_of(const Tensor& weights, double x) {
  return {.x = x,
          .y = 62.0,
          .cell_width = 40.0,
          .cell_height = 28.0,
          .rows = kWords,
          .columns = kWords,
          .weights = matrix_of(weights),
          .numbers = true};
}

}  // namespace

LessonResult order_lesson() {
  Random random(5);
  const Tensor table = normal({4, kDim}, 0.0, 1.0, random, DType::f64);
  const auto words = [&](const Ids& ids) {
    return embedding(table, Tensor::from(ids, {1, static_cast<std::int64_t>(ids.size())}));
  };
  const auto placed = [](const Tensor& x) { return nn::sinusoidal_encoding(x); };
  const Reading bag = read(words(kDogBites));
  const Reading mixed = read(words(kManBites));
  const Reading ordered = read(placed(words(kDogBites)));
  const Reading swapped = read(placed(words(kManBites)));
  const auto twins = [](const Tensor& weights) {
    return largest(weights.select(1, 0) - weights.select(1, 3));
  };

  LessonResult result;
  result.tables = {{"What changes from \"the dog bites the man\" to \"the man bites the dog\"",
                    {"self-attention", "summed output"},
                    {{"without positions", {largest(bag.summary - mixed.summary)}},
                     {"with sinusoids added", {largest(ordered.summary - swapped.summary)}}}},
                   {"How the weights of the two words \"the\" differ",
                    {"self-attention", "difference"},
                    {{"without positions", {twins(bag.weights)}},
                     {"with sinusoids added", {twins(ordered.weights)}}}}};
  LessonTable models{"How the loss of a whole Transformer differs between the two sentences",
                     {"--positions", "difference"},
                     {}};
  for (const auto& [name, positions] : {std::pair{"none", models::Positions::none},
                                        {"sinusoidal", models::Positions::sinusoidal},
                                        {"rotary", models::Positions::rotary},
                                        {"relative", models::Positions::relative}})
    models.rows.push_back({name, {loss_change(positions)}});
  result.tables.push_back(models);
  result.tables.push_back(weights_by_distance());
  result.remarks = {
      "Without positions self-attention reads a bag of words: the outputs change places with "
      "the "
      "words, and their sum does not change at all.",
      "Sinusoids added to the words, rotations of queries and keys, or learnt distances tell "
      "words apart by their places.",
      "Of four equal words each way of placing makes another row of weights; what is learnt is "
      "as drawn before training. ALiBi learns nothing: the farther, the less."};
  result.figure = maps::Diagram{
      .title = "What positions add",
      .caption =
          "Self-attention of the same sentence, words drawn at random, one colour scale. On "
          "the left both rows of \"the\" are equal, because nothing tells the two apart; "
          "on the right sinusoids are added to the words.",
      .parts = {},
      .arrows = {},
      .notes = {{60.0, 20.0, "without positions", maps::NoteAnchor::left, maps::Role::plain,
                 true},
                {370.0, 20.0, "with sinusoids added", maps::NoteAnchor::left, maps::Role::plain,
                 true}},
      .grids = {grid_of(bag.weights, 60.0), grid_of(ordered.weights, 370.0)}};
  return result;
}

}  // namespace attn::tools
