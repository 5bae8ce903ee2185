#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/nn/applied/entailment_word_by_word.hpp"
#include "attn/nn/applied/las_attention.hpp"
#include "attn/nn/applied/las_listener_layer.hpp"
#include "attn/nn/applied/location_aware.hpp"
#include "attn/nn/applied/rush_summariser_attention.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "nn/support/lookup.hpp"
#include "nn/support/tasks.hpp"

namespace attn {
namespace {

constexpr std::int64_t kBatch = 16;
constexpr std::int64_t kCount = 4;

double train_las(bool attends) {
  const test::WithHead<nn::LasAttention> model(
      nn::LasAttention({.encoder_dim = 2 * kCount, .query_dim = kCount, .hidden = 16}),
      2 * kCount, kCount);
  return test::train(model, 200, 0.05, [&] {
    const test::Lookup task = test::make_lookup(kBatch, kCount);
    const Tensor context =
        attends ? model.looks.forward(task.items, task.query.unsqueeze(1)).output.squeeze(1)
                : mean(task.items, 1);
    return cross_entropy(model.out(context), task.answer);
  });
}

TEST(LasAttention, LearnsToRecall) {
  test::expect_learns(0.5, [] { return train_las(true); }, [] { return train_las(false); });
}

double train_word_by_word(bool attends) {
  const std::int64_t dim = 2 * kCount;
  const test::WithHead<nn::WordByWordAttention> model(nn::WordByWordAttention(dim), dim,
                                                      kCount);
  return test::train(model, 250, 0.03, [&] {
    const test::Lookup task = test::make_lookup(kBatch, kCount);
    const Tensor asked = pad(task.query, 1, 0, kCount).unsqueeze(1);
    const Tensor premise = attends ? task.items : mean(task.items, 1, Axis::keep);
    return cross_entropy(model.out(model.looks.forward(premise, asked).h_star), task.answer);
  });
}

TEST(WordByWordAttention, LearnsToRecall) {
  test::expect_learns(
      0.3, [] { return train_word_by_word(true); }, [] { return train_word_by_word(false); });
}

/// Frame 0 is marked, and the answer of step t is frame t: no content tells which that is, only
/// where the step before looked.
double train_location(bool attends) {
  constexpr std::int64_t kFrames = 6;
  constexpr std::int64_t kSteps = 4;
  const nn::LocationAwareAttention attention(
      {.encoder_dim = 3, .query_dim = 2, .hidden = 16, .channels = 4, .width = 3});
  Tensor mark = Tensor::zeros({kBatch, kFrames, 1});
  mark.slice(1, 0, 1).fill(1.0);
  Tensor queries = Tensor::full({kBatch, kSteps, 2}, 1.0);
  queries.slice(1, 1, kSteps).slice(2, 0, 1).fill(0.0);
  return test::train(attention, 200, 0.03, [&] {
    const Tensor content = uniform({kBatch, kFrames, 2}, -1.0, 1.0, nn::random());
    const Tensor frames = concat({mark, content}, 2);
    const Tensor context = attends
                               ? attention.forward(frames, queries).output
                               : attention.forward(mean(frames, 1, Axis::keep), queries).output;
    return mean_squared_error(context.slice(2, 1, 3), content.slice(1, 0, kSteps));
  });
}

TEST(LocationAwareAttention, LearnsToWalkAlong) {
  test::expect_learns(
      0.1, [] { return train_location(true); }, [] { return train_location(false); });
}

/// The answer is the product of the two frames of a pair; without the second it is unknown.
double train_listener(bool hears_both) {
  const test::WithHead<nn::ListenerLayer> model(nn::ListenerLayer({.in = 1, .hidden = 6}), 12,
                                                1);
  return test::train(model, 200, 0.03, [&] {
    const Tensor signs = random_integers({kBatch, 4, 2}, 0, 2, nn::random()).to(DType::f32);
    const Tensor pairs = 2.0 * signs - 1.0;
    const Tensor product = pairs.slice(2, 0, 1) * pairs.slice(2, 1, 2);
    const Tensor second = hears_both ? pairs.slice(2, 1, 2) : Tensor::zeros({kBatch, 4, 1});
    const Tensor frames = concat({pairs.slice(2, 0, 1), second}, 2).reshape({kBatch, 8, 1});
    return mean_squared_error(model.out(model.looks.forward(frames).output), product);
  });
}

TEST(ListenerLayer, LearnsFromPairsOfFrames) {
  test::expect_learns(
      0.3, [] { return train_listener(true); }, [] { return train_listener(false); });
}

/// Source "key value filler key value filler ...": the answer is the neighbour of the key asked
/// for, which smoothing brings to it.
double train_rush(bool attends) {
  constexpr std::int64_t kFiller = 2 * kCount;
  const test::WithHead<nn::RushAttention> model(
      nn::RushAttention({.source_words = kFiller + 1,
                         .source_dim = 8,
                         .context_words = kCount,
                         .context_dim = 6,
                         .context_length = 1,
                         .reach = 1,
                         .divisor = nn::SmoothingDivisor::count}),
      8, kCount);
  return test::train(model, 300, 0.01, [&] {
    const test::Lookup task = test::make_lookup(kBatch, kCount);
    const auto key_of = [&](const Tensor& one_hot) { return argmax(one_hot, -1); };
    const auto keys = key_of(task.items.slice(2, 0, kCount)).to_vector<std::int64_t>();
    const auto values = task.values.to_vector<std::int64_t>();
    std::vector<std::int64_t> words;
    for (std::size_t i = 0; i < keys.size(); ++i)
      words.insert(words.end(), {keys[i], kCount + values[i], kFiller});
    const nn::RushAttended looked = model.looks.forward(
        Tensor::from(words, {kBatch, 3 * kCount}), key_of(task.query).unsqueeze(1));
    const Tensor context = attends ? looked.context : mean(looked.smoothed, 1);
    return cross_entropy(model.out(context), task.answer);
  });
}

TEST(RushAttention, LearnsToRecallANeighbour) {
  test::expect_learns(0.5, [] { return train_rush(true); }, [] { return train_rush(false); });
}

}  // namespace
}  // namespace attn
