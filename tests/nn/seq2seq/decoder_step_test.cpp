#include "attn/nn/recurrent/decoder_step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/seq2seq/bahdanau_decoder.hpp"
#include "attn/nn/mechanisms/seq2seq/bahdanau_rnnsearch.hpp"
#include "attn/nn/mechanisms/seq2seq/luong_decoder.hpp"
#include "attn/nn/mechanisms/seq2seq/seq2seq_rnn.hpp"
#include "attn/nn/recurrent/greedy.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/random.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

const Shape kSource{3, 5, 6};
constexpr std::int64_t kSteps = 4;

Tensor some(const Shape& shape) {
  return uniform(shape, -1.0, 1.0, nn::random());
}
Tensor some_ids(const Shape& shape) {
  return random_integers(shape, 0, 7, nn::random());
}
Tensor lengths() {
  return Tensor::from(std::vector<std::int64_t>{5, 2, 0}, {3});
}

void expect_close(const Tensor& got, const Tensor& want) {
  ASSERT_TRUE(got.shape() == want.shape()) << got.text() << " " << want.text();
  const auto a = got.detach().to_vector<float>();
  const auto b = want.detach().to_vector<float>();
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], test::kFloatSum) << i;
}

/// The logits of steps taken one by one, [batch, steps, vocabulary].
Tensor stepped(const nn::StepFunction& step, nn::DecoderState state, const Tensor& tokens) {
  std::vector<Tensor> logits;
  for (std::int64_t t = 0; t < tokens.size(1); ++t) {
    const nn::DecoderStep one = step(tokens.select(1, t), state);
    logits.push_back(one.logits);
    state = one.state;
  }
  return stack(logits, 1);
}

TEST(DecoderStep, OfBahdanauEqualsTeacherForcing) {
  const nn::BahdanauDecoder decoder(
      {.vocabulary = 7, .embedding = 3, .hidden = 6, .layers = 2});
  const Tensor enc = some(kSource);
  const Tensor state = some({2, 3, 6});
  const Tensor tokens = some_ids({3, kSteps});
  const DecoderSource source = decoder.read(enc, lengths());
  const auto step = [&](const Tensor& token, const nn::DecoderState& before) {
    return decoder.step(token, source, before);
  };
  expect_close(stepped(step, {state, {}, {}}, tokens),
               decoder.forward(enc, state, tokens, lengths()).logits);
}

TEST(DecoderStep, OfLuongEqualsTeacherForcing) {
  for (const auto score :
       {nn::LuongScore::dot, nn::LuongScore::general, nn::LuongScore::concat}) {
    for (const auto feeding : {InputFeeding::on, InputFeeding::off}) {
      const nn::LuongDecoder decoder({.vocabulary = 7,
                                      .embedding = 3,
                                      .hidden = 6,
                                      .attentional = 5,
                                      .layers = 2,
                                      .score = score,
                                      .feeding = feeding});
      const Tensor enc = some(kSource);
      const Tensor h = some({2, 3, 6});
      const Tensor c = some({2, 3, 6});
      const Tensor tokens = some_ids({3, kSteps});
      const DecoderSource source = decoder.read(enc, lengths());
      const auto step = [&](const Tensor& token, const nn::DecoderState& before) {
        return decoder.step(token, source, before);
      };
      expect_close(stepped(step, decoder.start(h, c), tokens),
                   decoder.forward(enc, h, c, tokens, lengths()).logits);
    }
  }
}

TEST(DecoderStep, OfRnnSearchEqualsTeacherForcing) {
  const nn::RnnSearch model({.source_vocabulary = 7,
                             .target_vocabulary = 7,
                             .source_embedding = 3,
                             .target_embedding = 4,
                             .encoder_hidden = 3,
                             .decoder_hidden = 5,
                             .attention_dim = 4,
                             .maxout = 3});
  const Tensor words = some_ids({3, 5});
  const Tensor tokens = some_ids({3, kSteps});
  const nn::RnnSearch::Begun begun = model.begin(words, lengths());
  const auto step = [&](const Tensor& token, const nn::DecoderState& before) {
    return model.step(token, begun.source, before);
  };
  expect_close(stepped(step, begun.state, tokens),
               model.forward(words, tokens, lengths()).logits);
}

TEST(DecoderStep, OfTheModelWithoutAttentionEqualsTeacherForcing) {
  const nn::Seq2SeqRnn model(
      {.encoder = {.vocabulary = 7, .embedding = 3, .hidden = 5, .layers = 2},
       .decoder = {.vocabulary = 7, .embedding = 4, .hidden = 5, .layers = 2}});
  const Tensor words = some_ids({3, 5});
  const Tensor tokens = some_ids({3, kSteps});
  const nn::DecoderState start = model.start(words, lengths());
  const DecoderSource source = model.read(start);
  const auto step = [&](const Tensor& token, const nn::DecoderState& before) {
    return model.step(token, source, before);
  };
  expect_close(stepped(step, start, tokens), model.forward(words, tokens, lengths()).logits);
}

TEST(DecoderStep, GoesOnWithTheRowsThatWereSelected) {
  const nn::LuongDecoder decoder(
      {.vocabulary = 7, .embedding = 3, .hidden = 6, .attentional = 5});
  const DecoderSource source = decoder.read(some(kSource), lengths());
  const nn::DecoderState state{some({1, 3, 6}), some({1, 3, 6}), some({3, 5})};
  const Tensor tokens = some_ids({3});
  const Tensor rows = Tensor::from(std::vector<std::int64_t>{1, 1, 0}, {3});
  const nn::DecoderStep all = decoder.step(tokens, source, state);
  const Tensor chosen =
      Tensor::from(std::vector<std::int64_t>{tokens.to_vector<std::int64_t>()[1],
                                             tokens.to_vector<std::int64_t>()[1],
                                             tokens.to_vector<std::int64_t>()[0]},
                   {3});
  const nn::DecoderStep some_rows =
      decoder.step(chosen, nn::select_rows(source, rows), nn::select_rows(state, rows));
  expect_close(some_rows.logits.select(0, 0), all.logits.select(0, 1));
  expect_close(some_rows.weights.select(0, 2), all.weights.select(0, 0));
}

TEST(GreedyDecode, StopsAtEosAndPadsAfterIt) {
  // Row 0 says 3, 2 (eos); row 1 never ends. Of equal logits the first wins.
  std::int64_t at = 0;
  const auto step = [&](const Tensor&, const nn::DecoderState& state) {
    const std::vector<float> first = {0, 0, 0, 1, 1, 0, 0, 0, 0, 1};
    const std::vector<float> later = {0, 0, 1, 0, 0, 0, 0, 0, 0, 1};
    return nn::DecoderStep{Tensor::from(at++ == 0 ? first : later, {2, 5}),
                           Tensor::full({2, 3}, 0.5), state};
  };
  const nn::GreedyDecoded said = nn::greedy_decode(
      step, {Tensor::zeros({1, 2, 1}), {}, {}}, {.bos = 1, .eos = 2, .pad = 9, .max_len = 4});
  EXPECT_EQ(said.tokens.to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{3, 2, 9, 9, 4, 4, 4, 4}));
  EXPECT_EQ(said.lengths.to_vector<std::int64_t>(), (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(said.weights.select(0, 0).select(0, 1).to_vector<float>()[0], 0.5f);
  EXPECT_EQ(said.weights.select(0, 0).select(0, 2).to_vector<float>()[0], 0.0f);
  EXPECT_THROW(nn::greedy_decode(step, {Tensor::zeros({1, 2, 1}), {}, {}},
                                 {.bos = 1, .eos = 2, .pad = 0, .max_len = 0}),
               InvalidArgument);
}

}  // namespace
}  // namespace attn
