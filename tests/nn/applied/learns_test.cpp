#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/applied/entailment_word_by_word.hpp"
#include "attn/nn/mechanisms/applied/las_attention.hpp"
#include "attn/nn/mechanisms/applied/las_listener_layer.hpp"
#include "attn/nn/mechanisms/applied/location_aware.hpp"
#include "attn/nn/mechanisms/applied/rush_summariser_attention.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
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
  test::expect_learns(0.4, [] { return train_las(true); }, [] { return train_las(false); });
}

constexpr std::int64_t kRows = 32;
constexpr std::int64_t kKeys = 5;
constexpr std::int64_t kWordDim = 4 * kKeys;

/// A premise of keys and values, a hypothesis of two words, and two answers.
struct TwoWords {
  Tensor premise;
  Tensor first, second;  ///< words, [rows, keys]
  Tensor first_answer, second_answer;
};

/// The second word, always the same, asks for the value of the key that the first found.
TwoWords make_chained_words() {
  const test::Lookup task = test::make_lookup(kRows, kKeys);
  return {task.items, task.query, Tensor::full({kRows, kKeys}, 1.0), task.answer,
          test::value_of(task, task.answer)};
}

/// Both words are keys.
TwoWords make_two_keys() {
  const test::Lookup task = test::make_lookup(kRows, kKeys);
  const Tensor place = random_integers({kRows, 1}, 0, kKeys, nn::random());
  const Tensor keys = task.items.slice(2, 0, kKeys);
  const Tensor second = gather(keys, 1, place.unsqueeze(2).expand({kRows, 1, kKeys}));
  return {task.items, task.query, second.squeeze(1), task.answer,
          gather(task.values, 1, place).squeeze(1)};
}

/// What a model sees of the task.
enum class Sees { all, the_mean_of_the_premise, the_last_word };

/// Both answers are read when the last word has been read.
template <class Make>
double train_word_by_word(const Make& make, Sees sees) {
  const test::WithHead<nn::WordByWordAttention> model(nn::WordByWordAttention(kWordDim),
                                                      kWordDim, 2 * kKeys);
  return test::train(model, 300, 0.02, [&] {
    const TwoWords task = make();
    const bool blurs = sees == Sees::the_mean_of_the_premise;
    const Tensor items = blurs ? test::blurred(task.premise) : task.premise;
    const Tensor words = stack({task.first, task.second}, 1);
    const Tensor h_star = model.looks
                              .forward(pad(items, 2, 0, kWordDim - items.size(2)),
                                       pad(words, 2, 0, kWordDim - kKeys)
                                           .slice(1, sees == Sees::the_last_word ? 1 : 0, 2))
                              .h_star;
    const Tensor logits = model.out(h_star);
    return 0.5 * (cross_entropy(logits.slice(1, 0, kKeys), task.first_answer) +
                  cross_entropy(logits.slice(1, kKeys, 2 * kKeys), task.second_answer));
  });
}

template <class Make>
void expect_word_by_word(double bound, const Make& make) {
  for (const Sees sees : {Sees::the_mean_of_the_premise, Sees::the_last_word})
    test::expect_learns(
        bound, [&] { return train_word_by_word(make, Sees::all); },
        [&] { return train_word_by_word(make, sees); });
}

TEST(WordByWordAttention, LearnsToLookFromWhatTheWordBeforeFound) {
  expect_word_by_word(0.2, make_chained_words);
}

TEST(WordByWordAttention, LearnsToCarryWhatTheWordBeforeFound) {
  expect_word_by_word(0.2, make_two_keys);
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
/// for, which smoothing brings to it. The last word written is a filler; the key is the one
/// before it.
double train_rush(bool attends) {
  constexpr std::int64_t kNames = 3;
  constexpr std::int64_t kFiller = 2 * kNames;
  const test::WithHead<nn::RushAttention> model(
      nn::RushAttention({.source_words = kFiller + 1,
                         .source_dim = 8,
                         .context_words = kNames + 1,
                         .context_dim = 4,
                         .context_length = 2,
                         .reach = 1,
                         .divisor = nn::SmoothingDivisor::count}),
      8, kNames);
  const Tensor filler = Tensor::full({kRows}, static_cast<double>(kNames), DType::i64);
  return test::train(model, 400, 0.02, [&] {
    const test::Lookup task = test::make_lookup(kRows, kNames);
    const auto key_of = [&](const Tensor& one_hot) { return argmax(one_hot, -1); };
    const auto keys = key_of(task.items.slice(2, 0, kNames)).to_vector<std::int64_t>();
    const auto values = task.values.to_vector<std::int64_t>();
    std::vector<std::int64_t> words;
    for (std::size_t i = 0; i < keys.size(); ++i)
      words.insert(words.end(), {keys[i], kNames + values[i], kFiller});
    const Tensor last = stack({key_of(task.query), filler}, 1);
    const nn::RushAttended looked =
        model.looks.forward(Tensor::from(words, {kRows, 3 * kNames}), last);
    const Tensor context = attends ? looked.context : mean(looked.smoothed, 1);
    return cross_entropy(model.out(context), task.answer);
  });
}

TEST(RushAttention, LearnsToRecallANeighbour) {
  test::expect_learns(0.25, [] { return train_rush(true); }, [] { return train_rush(false); });
}

}  // namespace
}  // namespace attn
