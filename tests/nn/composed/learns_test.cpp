#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "attn/nn/composed/cmla.hpp"
#include "attn/nn/composed/hierarchical_attention.hpp"
#include "attn/nn/composed/key_value_memory.hpp"
#include "attn/nn/composed/memory_network.hpp"
#include "attn/nn/composed/multi_dimensional_attention.hpp"
#include "attn/nn/composed/multi_step_attention.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "nn/support/tasks.hpp"

namespace attn::test {
namespace {

constexpr std::int64_t kBatch = 16;
constexpr std::int64_t kCount = 4;
constexpr std::int64_t kClasses = 3;
constexpr std::int64_t kMarkedDim = kClasses + 1;

template <class Train>
void expect_attention_learns(double bound, const Train& train_it) {
  expect_learns(bound, [&] { return train_it(true); }, [&] { return train_it(false); });
}

/// Trains what `look(mechanism, items)` gives, [batch, dim], to tell the marked item.
template <class M, class Look>
double train_marked(const M& mechanism, std::int64_t dim, std::int64_t count, bool attends,
                    const Look& look) {
  const WithHead model(mechanism, dim, kClasses);
  return train(model, 200, 0.05, [&] {
    const Marked task = make_marked(kBatch, count, kClasses);
    const Tensor items = attends ? task.items : blurred(task.items);
    return cross_entropy(model.out(look(model.looks, items)), task.answer);
  });
}

TEST(HierarchicalAttention, LearnsToFindTheMarkedWord) {
  expect_attention_learns(0.3, [](bool attends) {
    return train_marked(
        nn::HierarchicalAttention(
            {.word_dim = kMarkedDim, .word_hidden = 6, .sentence_hidden = 6}),
        kMarkedDim, 6, attends, [](const auto& looks, const Tensor& items) {
          return looks.forward(items.reshape({kBatch, 2, 3, kMarkedDim})).document;
        });
  });
}

TEST(SourceToTokenAttention, LearnsToFindTheMarkedToken) {
  expect_attention_learns(0.3, [](bool attends) {
    return train_marked(
        nn::SourceToTokenAttention({.dim = kMarkedDim}), kMarkedDim, kCount, attends,
        [](const auto& looks, const Tensor& items) { return looks.forward(items).output; });
  });
}

TEST(TokenToTokenAttention, LearnsToFetchTheMarkedToken) {
  expect_attention_learns(0.3, [](bool attends) {
    return train_marked(nn::TokenToTokenAttention({.dim = kMarkedDim}), kMarkedDim, kCount,
                        attends, [](const auto& looks, const Tensor& items) {
                          return looks.forward(items).output.select(1, 0);
                        });
  });
}

/// The tag of the first token is the class of the marked one, which reaches it through the
/// prototypes alone.
TEST(Cmla, LearnsToTagByAnotherToken) {
  expect_attention_learns(0.3, [](bool attends) {
    const nn::Cmla model({.dim = kMarkedDim, .slices = 4, .classes = kClasses, .layers = 2});
    return train(model, 120, 0.03, [&] {
      const Marked task = make_marked(kBatch, 3, kClasses);
      const Tensor items = attends ? task.items : blurred(task.items);
      return cross_entropy(model.forward(items).aspect.logits.select(1, 0), task.answer);
    });
  });
}

TEST(MultiStepAttention, LearnsToFindTheKeyThatIsAskedFor) {
  expect_attention_learns(0.4, [](bool attends) {
    const WithHead model(
        nn::MultiStepAttention({.channels = kCount, .embed_dim = 2 * kCount, .layers = 2}),
        kCount, kCount);
    const Tensor nothing = Tensor::zeros({kBatch, 1, 2 * kCount});
    return train(model, 200, 0.05, [&] {
      const Lookup task = make_lookup(kBatch, kCount);
      const Tensor items = attends ? task.items : blurred(task.items);
      const Tensor states = model.looks
                                .forward({.states = task.query.unsqueeze(1),
                                          .target_embed = nothing,
                                          .enc_out = items,
                                          .enc_embed = items})
                                .output;
      return cross_entropy(model.out(states.squeeze(1)), task.answer);
    });
  });
}

/// Sentences "key value", and a question "key". Without attention all are one sentence.
TEST(MemoryNetwork, LearnsToAnswerFromAMemory) {
  expect_attention_learns(0.4, [](bool attends) {
    const nn::MemoryNetwork model({.vocab_size = 2 * kCount, .dim = 12, .hops = 2});
    return train(model, 250, 0.03, [&] {
      const Lookup task = make_lookup(kBatch, kCount);
      const Tensor keys = argmax(task.items.slice(2, 0, kCount), 2);
      std::vector<std::int64_t> words, answers;
      for (std::int64_t i = 0; i < kBatch * kCount; ++i) {
        words.push_back(keys.data<std::int64_t>()[i]);
        words.push_back(kCount + task.values.data<std::int64_t>()[i]);
      }
      for (const std::int64_t answer : task.answer.to_vector<std::int64_t>())
        answers.push_back(kCount + answer);
      const Shape shape = attends ? Shape{kBatch, kCount, 2} : Shape{kBatch, 1, 2 * kCount};
      const Tensor logits = model
                                .forward({.memories = Tensor::from(words, shape),
                                          .question = argmax(task.query, 1).unsqueeze(1)})
                                .logits;
      return cross_entropy(logits, Tensor::from(answers, {kBatch}));
    });
  });
}

TEST(KeyValueMemory, LearnsToReadTheValueOfAKey) {
  expect_attention_learns(0.4, [](bool attends) {
    const nn::KeyValueMemory model({.features = 2 * kCount, .dim = 12, .hops = 2});
    const Tensor nothing = Tensor::zeros({kBatch, kCount});
    const Tensor classes = Tensor::zeros({kCount, 2 * kCount});
    for (std::int64_t c = 0; c < kCount; ++c)
      classes.mutable_data<float>()[c * 2 * kCount + kCount + c] = 1.0f;
    const Tensor values =
        concat(std::vector<Tensor>{Tensor::zeros({kCount}), Tensor::full({kCount}, 1.0)}, 0);
    return train(model, 200, 0.05, [&] {
      const Lookup task = make_lookup(kBatch, kCount);
      const Tensor items = attends ? task.items : blurred(task.items);
      const Tensor query = concat(std::vector<Tensor>{task.query, nothing}, 1);
      const auto made = model.forward(query, items * (1.0 - values), items * values, classes);
      return cross_entropy(made.logits, task.answer);
    });
  });
}

}  // namespace
}  // namespace attn::test
