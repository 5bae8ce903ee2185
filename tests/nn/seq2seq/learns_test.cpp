#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/seq2seq/bahdanau_decoder.hpp"
#include "attn/nn/mechanisms/seq2seq/bahdanau_greedy.hpp"
#include "attn/nn/mechanisms/seq2seq/bahdanau_rnnsearch.hpp"
#include "attn/nn/mechanisms/seq2seq/luong_decoder.hpp"
#include "attn/nn/mechanisms/seq2seq/seq2seq_rnn.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/nn/recurrent/greedy.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/support/lookup.hpp"

namespace attn {
namespace {

constexpr std::int64_t kBatch = 16;
constexpr std::int64_t kWords = 4;
constexpr std::int64_t kVocabulary = 6;
constexpr std::int64_t kHidden = 16;
constexpr std::int64_t kDim = kVocabulary + kWords;

/// Copying: word t of the target is word t of the source.
struct Copy {
  Tensor words;   ///< i64 [batch, words]
  Tensor tokens;  ///< the same, one later: what the decoder is fed
  Tensor states;  ///< [batch, words, dim]: one-hot word, then one-hot place
};

/// The words one later, behind a 0.
Tensor shifted(const Tensor& words) {
  const Tensor start = Tensor::zeros({words.size(0), 1}, DType::i64);
  return concat({start, words.slice(1, 0, words.size(1) - 1)}, 1);
}

Copy make_copy() {
  Copy task;
  task.words = random_integers({kBatch, kWords}, 1, kVocabulary, nn::random());
  task.tokens = shifted(task.words);
  const auto words = task.words.to_vector<std::int64_t>();
  std::vector<float> states(words.size() * kDim, 0.0f);
  for (std::size_t i = 0; i < words.size(); ++i) {
    states[i * kDim + static_cast<std::size_t>(words[i])] = 1.0f;
    states[i * kDim + kVocabulary + i % kWords] = 1.0f;
  }
  task.states = Tensor::from(states, {kBatch, kWords, kDim});
  return task;
}

/// Without attention there is one thing to look at, the mean.
Tensor seen(const Tensor& states, bool attends) {
  return attends ? states : mean(states, 1, Axis::keep);
}

nn::BahdanauDecoder bahdanau() {
  return nn::BahdanauDecoder(
      {.vocabulary = kVocabulary, .embedding = 4, .hidden = kHidden, .source_dim = kDim});
}

double train_bahdanau(const nn::BahdanauDecoder& decoder, bool attends) {
  const Tensor state = Tensor::zeros({1, kBatch, kHidden});
  return test::train(decoder, 250, 0.02, [&] {
    const Copy task = make_copy();
    return cross_entropy(decoder.forward(seen(task.states, attends), state, task.tokens).logits,
                         task.words);
  });
}

TEST(BahdanauDecoder, LearnsToCopy) {
  test::expect_learns(
      0.3, [] { return train_bahdanau(bahdanau(), true); },
      [] { return train_bahdanau(bahdanau(), false); });
}

TEST(BahdanauGreedy, SaysWhatTheDecoderLearnt) {
  nn::seed(7);
  const nn::BahdanauDecoder decoder = bahdanau();
  train_bahdanau(decoder, true);
  const Copy task = make_copy();
  const nn::GreedyDecoded said =
      nn::bahdanau_greedy(decoder, task.states, Tensor::zeros({1, kBatch, kHidden}), {},
                          {.bos = 0, .eos = kVocabulary, .pad = 0, .max_len = kWords});
  const auto got = said.tokens.to_vector<std::int64_t>();
  const auto want = task.words.to_vector<std::int64_t>();
  std::size_t right = 0;
  for (std::size_t i = 0; i < got.size(); ++i) right += got[i] == want[i] ? 1 : 0;
  EXPECT_TRUE(right > got.size() * 8 / 10 || !test::is_judged()) << right << " right";
}

double train_luong(bool attends, InputFeeding feeding) {
  const nn::LuongDecoder decoder({.vocabulary = kVocabulary,
                                  .embedding = 4,
                                  .hidden = kDim,
                                  .attentional = kHidden,
                                  .score = nn::LuongScore::general,
                                  .feeding = feeding});
  const Tensor zero = Tensor::zeros({1, kBatch, kDim});
  return test::train(decoder, 200, 0.03, [&] {
    const Copy task = make_copy();
    return cross_entropy(
        decoder.forward(seen(task.states, attends), zero, zero, task.tokens).logits,
        task.words);
  });
}

TEST(LuongDecoder, LearnsToCopy) {
  for (const InputFeeding feeding : {InputFeeding::on, InputFeeding::off})
    test::expect_learns(
        0.25, [=] { return train_luong(true, feeding); },
        [=] { return train_luong(false, feeding); });
}

/// A walk: the first token is a key, and each word names the key of the next. The words are
/// hidden from the decoder, so only what it fed back tells where it is.
double train_walk(InputFeeding feeding) {
  constexpr std::int64_t kKeys = 4;
  constexpr std::int64_t kSteps = 3;
  const nn::LuongDecoder decoder({.vocabulary = kKeys + 1,
                                  .embedding = 6,
                                  .hidden = 2 * kKeys,
                                  .attentional = kHidden,
                                  .score = nn::LuongScore::general,
                                  .feeding = feeding});
  const Tensor zero = Tensor::zeros({1, kBatch, 2 * kKeys});
  const Tensor hidden_words =
      Tensor::full({kBatch, kSteps - 1}, static_cast<double>(kKeys), DType::i64);
  return test::train(decoder, 400, 0.02, [&] {
    const test::Lookup task = test::make_lookup(kBatch, kKeys);
    std::vector<Tensor> words{task.answer};
    while (words.size() < kSteps) words.push_back(test::value_of(task, words.back()));
    const Tensor tokens = concat({argmax(task.query, 1).unsqueeze(1), hidden_words}, 1);
    return cross_entropy(decoder.forward(task.items, zero, zero, tokens).logits,
                         stack(words, 1));
  });
}

TEST(LuongDecoder, LearnsToWalkByInputFeeding) {
  test::expect_learns(
      0.1, [] { return train_walk(InputFeeding::on); },
      [] { return train_walk(InputFeeding::off); });
}

/// The encoder may write down places itself, so the sequence must be longer than its mean and
/// the decoder's first state can hold.
double train_rnnsearch(bool attends) {
  constexpr std::int64_t kLong = 8;
  const nn::RnnSearch model({.source_vocabulary = kLong,
                             .target_vocabulary = kLong,
                             .source_embedding = 6,
                             .target_embedding = 4,
                             .encoder_hidden = 8,
                             .decoder_hidden = kHidden,
                             .attention_dim = kHidden,
                             .maxout = 8});
  return test::train(model, 400, 0.02, [&] {
    const Tensor words = random_integers({kBatch, kLong}, 1, kLong, nn::random());
    const Tensor tokens = shifted(words);
    if (attends) return cross_entropy(model.forward(words, tokens).logits, words);
    auto [source, state] = model.begin(words);
    source = {seen(source.keys, false), seen(source.values, false), {}};
    std::vector<Tensor> logits;
    for (std::int64_t t = 0; t < kLong; ++t) {
      const nn::DecoderStep step = model.step(tokens.select(1, t), source, state);
      logits.push_back(step.logits);
      state = step.state;
    }
    return cross_entropy(stack(logits, 1), words);
  });
}

TEST(RnnSearch, LearnsToCopy) {
  test::expect_learns(
      0.35, [] { return train_rnnsearch(true); }, [] { return train_rnnsearch(false); });
}

/// The last word of the source is all that is asked for; a source of length 0 hides it.
double train_plain(std::int64_t length) {
  const nn::Seq2SeqRnn model(
      {.encoder = {.vocabulary = kVocabulary, .embedding = 6, .hidden = kHidden},
       .decoder = {.vocabulary = kVocabulary, .embedding = 4, .hidden = kHidden}});
  const Tensor lengths = Tensor::full({kBatch}, static_cast<double>(length), DType::i64);
  const Tensor start = Tensor::zeros({kBatch, 1}, DType::i64);
  return test::train(model, 120, 0.03, [&] {
    const Tensor words = make_copy().words;
    return cross_entropy(model.forward(words, start, lengths).logits,
                         words.slice(1, kWords - 1, kWords));
  });
}

TEST(Seq2SeqRnn, LearnsToRepeatTheLastWord) {
  test::expect_learns(0.3, [] { return train_plain(kWords); }, [] { return train_plain(0); });
}

}  // namespace
}  // namespace attn
