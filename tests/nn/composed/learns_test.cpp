#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/composed/attention_over_attention.hpp"
#include "attn/nn/mechanisms/composed/cmla.hpp"
#include "attn/nn/mechanisms/composed/hierarchical_attention.hpp"
#include "attn/nn/mechanisms/composed/key_value_memory.hpp"
#include "attn/nn/mechanisms/composed/memory_network.hpp"
#include "attn/nn/mechanisms/composed/multi_dimensional_attention.hpp"
#include "attn/nn/mechanisms/composed/multi_step_attention.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/support/lookup.hpp"
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

/// Tokens of two classes and two marks: the first class of the token with the first mark is
/// asked for, and the second class of that with the second.
struct TwoMarks {
  static constexpr std::int64_t kDim = 2 * kClasses + 2;

  TwoMarks() {
    const Tensor classes = random_integers({kBatch, kCount, 2}, 0, kClasses, nn::random());
    const Tensor marked = random_integers({kBatch, 2}, 0, kCount, nn::random());
    tokens = concat({one_hot(classes, kClasses).reshape({kBatch, kCount, 2 * kClasses}),
                     one_hot(marked, kCount).transpose(1, 2)},
                    2);
    answers = gather(classes, 1, marked.unsqueeze(1)).squeeze(1);
  }

  Tensor tokens;   ///< [batch, tokens, dim]
  Tensor answers;  ///< i64 [batch, 2]
};

/// A score for each feature finds both tokens; one for all features would mix them.
TEST(SourceToTokenAttention, LearnsToTakeEachFeatureFromItsToken) {
  expect_attention_learns(0.05, [](bool attends) {
    const WithHead model(nn::SourceToTokenAttention({.dim = TwoMarks::kDim}), TwoMarks::kDim,
                         2 * kClasses);
    return train(model, 300, 0.03, [&] {
      const TwoMarks task;
      const Tensor tokens = attends ? task.tokens : blurred(task.tokens);
      const Tensor logits = model.out(model.looks.forward(tokens).output);
      return cross_entropy(logits.reshape({kBatch, 2, kClasses}), task.answers);
    });
  });
}

/// Tokens before and after the one in the middle are marked, and it is to fetch the one on its
/// side. Who sees both sides cannot tell them apart.
double train_side(nn::TokenOrder order, nn::TokenOrder side) {
  constexpr std::int64_t kTokens = 5;
  constexpr std::int64_t kMiddle = 2;
  const WithHead model(nn::TokenToTokenAttention({.dim = kMarkedDim, .order = order}),
                       kMarkedDim, kClasses);
  const Tensor middle = Tensor::zeros({kBatch, 1, kMarkedDim});
  return train(model, 200, 0.05, [&] {
    const Marked before = make_marked(kBatch, kMiddle, kClasses);
    const Marked after = make_marked(kBatch, kTokens - 1 - kMiddle, kClasses);
    const Tensor tokens = concat({before.items, middle, after.items}, 1);
    const Tensor output = model.looks.forward(tokens).output.select(1, kMiddle);
    return cross_entropy(model.out(output),
                         side == nn::TokenOrder::forward ? before.answer : after.answer);
  });
}

TEST(TokenToTokenAttention, LearnsToFetchTheMarkedTokenOfItsSide) {
  for (const nn::TokenOrder side : {nn::TokenOrder::forward, nn::TokenOrder::backward})
    expect_learns(
        0.2, [&] { return train_side(side, side); },
        [&] { return train_side(nn::TokenOrder::all, side); });
}

/// The tag of the first token is the class of the marked one, which reaches it through the
/// prototypes alone.
TEST(Cmla, LearnsToTagByAnotherToken) {
  expect_attention_learns(0.25, [](bool attends) {
    const nn::Cmla model({.dim = kMarkedDim, .slices = 4, .classes = kClasses, .layers = 2});
    return train(model, 120, 0.03, [&] {
      const Marked task = make_marked(kBatch, 3, kClasses);
      const Tensor items = attends ? task.items : blurred(task.items);
      return cross_entropy(model.forward(items).aspect.logits.select(1, 0), task.answer);
    });
  });
}

constexpr std::int64_t kRows = 32;
constexpr std::int64_t kKeys = 3;

/// The answer takes two looks: the value of the key names the key of the answer. Without the
/// second layer there is one look.
double train_two_looks(std::int64_t layers) {
  const WithHead model(
      nn::MultiStepAttention({.channels = 4 * kKeys, .embed_dim = 2 * kKeys, .layers = layers}),
      4 * kKeys, kKeys);
  const Tensor nothing = Tensor::zeros({kRows, 1, 2 * kKeys});
  return train(model, 300, 0.03, [&] {
    const Lookup task = make_lookup(kRows, kKeys);
    const Tensor states = model.looks
                              .forward({.states = pad(task.query, 1, 0, 3 * kKeys).unsqueeze(1),
                                        .target_embed = nothing,
                                        .enc_out = task.items,
                                        .enc_embed = task.items})
                              .output;
    return cross_entropy(model.out(states.squeeze(1)), value_of(task, task.answer));
  });
}

TEST(MultiStepAttention, LearnsToLookAgainFromWhatItFound) {
  expect_learns(0.1, [] { return train_two_looks(2); }, [] { return train_two_looks(1); });
}

/// A step shows the key whose value is asked for two steps later, so a kernel of three brings
/// it there, and one of a single step does not.
double train_convolution(std::int64_t kernel, bool attends) {
  constexpr std::int64_t kSteps = 6;
  const WithHead model(
      nn::MultiStepAttention(
          {.channels = 4 * kKeys, .embed_dim = 2 * kKeys, .layers = 1, .kernel = kernel}),
      4 * kKeys, kKeys);
  const Tensor nothing = Tensor::zeros({kRows, kSteps, 2 * kKeys});
  return train(model, 300, 0.03, [&] {
    const Lookup task = make_lookup(kRows, kKeys);
    const Tensor places = random_integers({kRows, kSteps}, 0, kKeys, nn::random());
    const Tensor keys = gather(argmax(task.items.slice(2, 0, kKeys), 2), 1, places);
    const Tensor items = attends ? task.items : blurred(task.items);
    const Tensor states = model.looks
                              .forward({.states = pad(one_hot(keys, kKeys), 2, 0, 3 * kKeys),
                                        .target_embed = nothing,
                                        .enc_out = items,
                                        .enc_embed = items})
                              .output;
    return cross_entropy(model.out(states.slice(1, 2, kSteps)),
                         gather(task.values, 1, places.slice(1, 0, kSteps - 2)));
  });
}

TEST(MultiStepAttention, LearnsToFindTheKeyThatItsConvolutionBrings) {
  for (const auto& [kernel, attends] : {std::pair(std::int64_t{1}, true), {3, false}})
    expect_learns(
        0.3, [] { return train_convolution(3, true); },
        [&] { return train_convolution(kernel, attends); });
}

/// What stands between a memory and its answer.
struct Reads {
  std::int64_t hops;
  bool attends;
};

/// One hop finds the first value, and not the one it names.
template <class Train>
void expect_hops_learn(double bound, const Train& train_it) {
  for (const Reads& less : {Reads{.hops = 1, .attends = true}, {.hops = 2, .attends = false}})
    expect_learns(
        bound, [&] { return train_it(Reads{.hops = 2, .attends = true}); },
        [&] { return train_it(less); });
}

/// Sentences "key value", and a question "key"; the answer is the value of the key that the
/// first value names. Without attention all are one sentence.
double train_memory(const Reads& reads) {
  const nn::MemoryNetwork model({.vocab_size = 2 * kKeys,
                                 .dim = 12,
                                 .hops = reads.hops,
                                 .tying = nn::MemoryTying::layerwise});
  return train(model, 300, 0.03, [&] {
    const Lookup task = make_lookup(kRows, kKeys);
    const Tensor keys = argmax(task.items.slice(2, 0, kKeys), 2);
    std::vector<std::int64_t> words;
    for (std::int64_t i = 0; i < kRows * kKeys; ++i) {
      words.push_back(keys.data<std::int64_t>()[i]);
      words.push_back(kKeys + task.values.data<std::int64_t>()[i]);
    }
    const Shape shape = reads.attends ? Shape{kRows, kKeys, 2} : Shape{kRows, 1, 2 * kKeys};
    const Tensor logits = model
                              .forward({.memories = Tensor::from(words, shape),
                                        .question = argmax(task.query, 1).unsqueeze(1)})
                              .logits;
    return cross_entropy(logits, value_of(task, task.answer));
  });
}

TEST(MemoryNetwork, LearnsToAnswerFromTwoMemories) {
  expect_hops_learn(0.1, train_memory);
}

double train_key_values(const Reads& reads) {
  const nn::KeyValueMemory model({.features = 2 * kKeys, .dim = 12, .hops = reads.hops});
  const Tensor values =
      concat(std::vector<Tensor>{Tensor::zeros({kKeys}), Tensor::full({kKeys}, 1.0)}, 0);
  const Tensor classes = pad(one_hot(Tensor::arange(kKeys, DType::i64), kKeys), 1, kKeys, 0);
  return train(model, 300, 0.03, [&] {
    const Lookup task = make_lookup(kRows, kKeys);
    const Tensor items = reads.attends ? task.items : blurred(task.items);
    const Tensor logits = model
                              .forward(pad(task.query, 1, 0, kKeys), items * (1.0 - values),
                                       items * values, classes)
                              .logits;
    return cross_entropy(logits, value_of(task, task.answer));
  });
}

TEST(KeyValueMemory, LearnsToReadTheValueThatAnotherNames) {
  expect_hops_learn(0.1, train_key_values);
}

/// Reads a document in which each of three keys stands at two places, beside one word, and a
/// query of a key and two fillers. The word beside the key is asked for.
struct ClozeReader : nn::Module {
  static constexpr std::int64_t kDim = 8;

  ClozeReader()
      : document(add("document", nn::Linear({kKeys, kDim}))),
        query(add("query", nn::Linear({kKeys + 1, kDim}))) {}

  nn::AttentionOverAttentionResult read(const Tensor& keys, const Tensor& words,
                                        const Tensor& asks) const {
    return nn::attention_over_attention({.document = document(one_hot(keys, kKeys)),
                                         .query = query(one_hot(asks, kKeys + 1)),
                                         .document_ids = words},
                                        kWords, Want::output | Want::weights);
  }

  static constexpr std::int64_t kWords = 5;
  nn::Linear document;
  nn::Linear query;
};

struct Cloze {
  Tensor keys;    ///< i64 [rows, places]
  Tensor words;   ///< i64 [rows, places]
  Tensor asks;    ///< i64 [rows, 3]: one key, and fillers
  Tensor answer;  ///< i64 [rows, 1]
};

Cloze make_cloze() {
  std::vector<std::int64_t> keys, words, asks, answers;
  for (std::int64_t row = 0; row < kRows; ++row) {
    const auto names = permutation(ClozeReader::kWords, nn::random()).to_vector<std::int64_t>();
    for (const std::int64_t place :
         permutation(2 * kKeys, nn::random()).to_vector<std::int64_t>()) {
      keys.push_back(place / 2);
      words.push_back(names[static_cast<std::size_t>(place / 2)]);
    }
    const std::int64_t key = drawn(kKeys);
    const std::int64_t where = drawn(3);
    for (std::int64_t i = 0; i < 3; ++i) asks.push_back(i == where ? key : kKeys);
    answers.push_back(names[static_cast<std::size_t>(key)]);
  }
  const Shape places{kRows, 2 * kKeys};
  return {Tensor::from(keys, places), Tensor::from(words, places),
          Tensor::from(asks, {kRows, 3}), Tensor::from(answers, {kRows, 1})};
}

/// Whether query words are weighed by what the document sees in them, or are all alike.
double train_cloze(bool weighs) {
  const ClozeReader model;
  return train(model, 250, 0.03, [&] {
    const Cloze task = make_cloze();
    const auto read = model.read(task.keys, task.words, task.asks);
    const Tensor probs =
        weighs ? read.word_probs
               : scatter_add(mean(read.alpha, 2), 1, task.words, ClozeReader::kWords);
    return -mean(log(gather(probs, 1, task.answer)));
  });
}

TEST(AttentionOverAttention, LearnsWhichWordOfTheQueryMatters) {
  expect_learns(0.2, [] { return train_cloze(true); }, [] { return train_cloze(false); });
}

/// Two places hold the answer, and the probability of a word is that of both: one place alone
/// has half of it.
double train_repeated(bool adds_up) {
  const ClozeReader model;
  return train(model, 250, 0.03, [&] {
    const Cloze task = make_cloze();
    const auto read = model.read(task.keys, task.words, task.asks);
    const Tensor holds =
        (one_hot(task.words, ClozeReader::kWords) * one_hot(task.answer, ClozeReader::kWords));
    const Tensor best = max(read.s * sum(holds, 2), 1).values;
    const Tensor probs = adds_up ? gather(read.word_probs, 1, task.answer) : best;
    return -mean(log(probs));
  });
}

TEST(AttentionOverAttention, LearnsToAddUpThePlacesOfAWord) {
  expect_learns(0.2, [] { return train_repeated(true); }, [] { return train_repeated(false); });
}

}  // namespace
}  // namespace attn::test
