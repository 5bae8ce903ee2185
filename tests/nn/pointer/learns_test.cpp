#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/pointer/biaffine_attention.hpp"
#include "attn/nn/mechanisms/pointer/pointer.hpp"
#include "attn/nn/mechanisms/pointer/pointer_generator.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/support/lookup.hpp"
#include "nn/support/tasks.hpp"

namespace attn {
namespace {

constexpr std::int64_t kBatch = 16;
constexpr std::int64_t kCount = 5;

double train_pointer(bool attends) {
  const nn::Pointer pointer({.encoder_dim = 2 * kCount, .decoder_dim = kCount, .hidden = 16});
  return test::train(pointer, 120, 0.05, [&] {
    const test::Lookup task = test::make_lookup(kBatch, kCount);
    const Tensor places = attends ? task.items : test::blurred(task.items);
    return -mean(
        pointer.forward(places, task.query.unsqueeze(1), {}, task.place.unsqueeze(1)).log_prob);
  });
}

TEST(Pointer, LearnsToPointAtTheKeyThatIsAskedFor) {
  test::expect_learns(
      0.5, [] { return train_pointer(true); }, [] { return train_pointer(false); });
}

double train_biaffine(bool attends) {
  const nn::BiaffineAttention arcs(
      {.dependent_dim = kCount, .head_dim = 2 * kCount, .hidden = 16});
  return test::train(arcs, 120, 0.02, [&] {
    const test::Lookup task = test::make_lookup(kBatch, kCount);
    const Tensor heads = attends ? task.items : test::blurred(task.items);
    return -mean(
        arcs.forward(task.query.unsqueeze(1), heads, {}, task.place.unsqueeze(1)).log_prob);
  });
}

TEST(BiaffineAttention, LearnsToPointAtTheHeadThatIsAskedFor) {
  test::expect_learns(
      0.5, [] { return train_biaffine(true); }, [] { return train_biaffine(false); });
}

/// Items of a random order; step t asks for the item of rank t, and nothing else tells the
/// steps apart.
struct Ranked {
  Tensor items;    ///< [batch, count, count]: one-hot rank
  Tensor places;   ///< i64 [batch, count]: where rank t lies
  Tensor visited;  ///< boolean [batch, count, count]: the places of ranks before t
  Tensor steps = Tensor::full({kBatch, kCount, 1}, 1.0);
};

Ranked make_ranked() {
  std::vector<std::int64_t> ranks, places;
  for (std::int64_t b = 0; b < kBatch; ++b) {
    const auto order = permutation(kCount, nn::random()).to_vector<std::int64_t>();
    ranks.insert(ranks.end(), order.begin(), order.end());
    for (std::int64_t t = 0; t < kCount; ++t)
      places.push_back(std::find(order.begin(), order.end(), t) - order.begin());
  }
  Tensor visited = Tensor::zeros({kBatch, kCount, kCount}, DType::boolean);
  for (std::int64_t row = 0; row < kBatch * kCount; ++row)
    for (std::int64_t place = 0; place < kCount; ++place)
      visited.mutable_data<bool>()[row * kCount + place] =
          ranks[static_cast<std::size_t>(row / kCount * kCount + place)] < row % kCount;
  return {test::one_hot(Tensor::from(ranks, {kBatch, kCount}), kCount),
          Tensor::from(places, {kBatch, kCount}), visited};
}

double train_order(bool marks_visited) {
  const nn::Pointer pointer({.encoder_dim = kCount, .decoder_dim = 1, .hidden = 16});
  return test::train(pointer, 120, 0.05, [&] {
    const Ranked task = make_ranked();
    const nn::PointerReach reach{.lengths = {},
                                 .visited = marks_visited ? task.visited : Tensor()};
    return -mean(pointer.forward(task.items, task.steps, reach, task.places).log_prob);
  });
}

TEST(Pointer, LearnsAnOrderOfPlacesThatWereNotVisited) {
  test::expect_learns(0.5, [] { return train_order(true); }, [] { return train_order(false); });
}

constexpr std::int64_t kVocabulary = 3;

/// i64 [batch, count]: words kVocabulary, kVocabulary + 1, ... of this source alone.
Tensor extra_words() {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < kBatch * kCount; ++i) ids.push_back(kVocabulary + i % kCount);
  return Tensor::from(ids, {kBatch, kCount});
}

/// The first step copies: its word is in no vocabulary. The second, which another input tells,
/// generates the word that the logits know.
double train_copy(bool attends) {
  const nn::PointerGenerator model(
      {.encoder_dim = 2 * kCount, .decoder_dim = kCount, .input_dim = 1, .hidden = 16});
  return test::train(model, 150, 0.05, [&] {
    const test::Lookup task = test::make_lookup(kBatch, kCount);
    const Tensor ids = extra_words();
    const Tensor known = random_integers({kBatch, 1}, 0, kVocabulary, nn::random());
    const Tensor logits = test::one_hot(known, kVocabulary) * 10.0;
    const Tensor step = Tensor::full({kBatch, 1, 1}, 1.0);
    const nn::PointerGenerated written =
        model.forward({.encoder_states = attends ? task.items : test::blurred(task.items),
                       .decoder_states = stack({task.query, task.query}, 1),
                       .decoder_inputs = concat({-step, step}, 1),
                       .vocab_logits = concat({logits, logits}, 1),
                       .src_ids = ids,
                       .targets = concat({gather(ids, 1, task.place.unsqueeze(1)), known}, 1),
                       .extra_words = kCount});
    return mean(written.nll);
  });
}

TEST(PointerGenerator, LearnsToCopyAndToGenerate) {
  test::expect_learns(0.3, [] { return train_copy(true); }, [] { return train_copy(false); });
}

/// Each word of the source is to be copied once. Only the coverage tells the steps apart.
/// Returns the loss of words alone.
double train_once(nn::Coverage coverage) {
  const nn::PointerGenerator model(
      {.encoder_dim = kCount, .decoder_dim = 1, .input_dim = 1, .hidden = 16});
  const auto write = [&] {
    const Ranked task = make_ranked();
    const Tensor ids = extra_words();
    return model.forward({.encoder_states = task.items,
                          .decoder_states = task.steps,
                          .decoder_inputs = task.steps,
                          .vocab_logits = Tensor::zeros({kBatch, kCount, kVocabulary}),
                          .src_ids = ids,
                          .targets = gather(ids, 1, task.places),
                          .extra_words = kCount,
                          .coverage = coverage});
  };
  test::train(model, 200, 0.05, [&] {
    const nn::PointerGenerated written = write();
    return mean(written.nll) + mean(written.coverage_loss);
  });
  const NoGrad off_the_tape;
  return mean(write().nll).item();
}

TEST(PointerGenerator, LearnsToCopyEachWordOnceByItsCoverage) {
  test::expect_learns(
      0.5, [] { return train_once(nn::Coverage::on); },
      [] { return train_once(nn::Coverage::off); });
}

/// One word stands at both places, so its loss is the same wherever the two steps look; the
/// coverage loss alone asks the second to look elsewhere. Returns the coverage loss.
double train_elsewhere(double coverage_weight) {
  constexpr std::int64_t kPlaces = 2;
  const nn::PointerGenerator model(
      {.encoder_dim = kPlaces, .decoder_dim = 1, .input_dim = 1, .hidden = 16});
  const Tensor steps = Tensor::full({kBatch, 2, 1}, 1.0);
  const Tensor word = Tensor::full({kBatch, 2}, static_cast<double>(kVocabulary), DType::i64);
  const Tensor places = test::one_hot(Tensor::arange(kPlaces, DType::i64), kPlaces);
  const auto write = [&] {
    return model.forward({.encoder_states = places.expand({kBatch, kPlaces, kPlaces}),
                          .decoder_states = steps,
                          .decoder_inputs = steps,
                          .vocab_logits = Tensor::zeros({kBatch, 2, kVocabulary}),
                          .src_ids = word,
                          .targets = word,
                          .extra_words = 1});
  };
  test::train(model, 200, 0.05, [&] {
    const nn::PointerGenerated written = write();
    return mean(written.nll) + coverage_weight * mean(written.coverage_loss);
  });
  const NoGrad off_the_tape;
  return mean(write().coverage_loss).item();
}

TEST(PointerGenerator, LearnsFromTheCoverageLossToLookElsewhere) {
  test::expect_learns(
      0.1, [] { return train_elsewhere(1.0); }, [] { return train_elsewhere(0.0); });
}

}  // namespace
}  // namespace attn
