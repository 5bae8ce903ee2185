#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "attn/nn/pointer/pointer.hpp"
#include "attn/nn/pointer/pointer_generator.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
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

/// i64 [batch, count]: words vocabulary, vocabulary + 1, ... of this source alone.
Tensor extra_words(std::int64_t vocabulary) {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < kBatch * kCount; ++i) ids.push_back(vocabulary + i % kCount);
  return Tensor::from(ids, {kBatch, kCount});
}

/// The words of the source are in no vocabulary; the one asked for must be copied.
double train_copy(bool attends) {
  const std::int64_t vocabulary = 3;
  const nn::PointerGenerator copy(
      {.encoder_dim = 2 * kCount, .decoder_dim = kCount, .input_dim = 1, .hidden = 16});
  return test::train(copy, 150, 0.05, [&] {
    const test::Lookup task = test::make_lookup(kBatch, kCount);
    const Tensor ids = extra_words(vocabulary);
    const nn::PointerGenerated made =
        copy.forward({.encoder_states = attends ? task.items : test::blurred(task.items),
                      .decoder_states = task.query.unsqueeze(1),
                      .decoder_inputs = Tensor::zeros({kBatch, 1, 1}),
                      .vocab_logits = Tensor::zeros({kBatch, 1, vocabulary}),
                      .src_ids = ids,
                      .targets = gather(ids, 1, task.place.unsqueeze(1)),
                      .extra_words = kCount});
    return mean(made.nll);
  });
}

TEST(PointerGenerator, LearnsToCopyTheWordThatIsAskedFor) {
  test::expect_learns(0.5, [] { return train_copy(true); }, [] { return train_copy(false); });
}

}  // namespace
}  // namespace attn
