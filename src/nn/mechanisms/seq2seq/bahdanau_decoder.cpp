#include "attn/nn/mechanisms/seq2seq/bahdanau_decoder.hpp"

#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/nn/attention/additive_score.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

std::int64_t or_hidden(std::int64_t dim, const BahdanauDecoderOptions& options) {
  return dim > 0 ? dim : options.hidden;
}

}  // namespace

BahdanauDecoder::BahdanauDecoder(const BahdanauDecoderOptions& options)
    : embedding_(add("embedding",
                     Embedding({.rows = options.vocabulary, .features = options.embedding}))),
      attention_(add("attention",
                     AdditiveScore({.query_dim = options.hidden,
                                    .key_dim = or_hidden(options.source_dim, options),
                                    .hidden_dim = or_hidden(options.attention_dim, options)}))),
      rnn_(add("rnn", Gru({.in = or_hidden(options.source_dim, options) + options.embedding,
                           .hidden = options.hidden,
                           .layers = options.layers}))),
      dense_(add("dense", Linear({.in = options.hidden, .out = options.vocabulary}))) {}

DecoderSource BahdanauDecoder::read(const Tensor& enc, const Tensor& lengths) const {
  const Tensor values = padding::zero_past(enc, lengths);
  return {attention_.keys(values), values, lengths};
}

BahdanauDecoded BahdanauDecoder::run(const DecoderSource& source, const Tensor& state,
                                     const Tensor& tokens) const {
  if (tokens.rank() != 2)
    fail("attn::nn::BahdanauDecoder: tokens are ", tokens.text(),
         "; i64 [batch, steps] are accepted");
  const BahdanauResult decoded = bahdanau_decode(embedding_(tokens), source, state,
                                                 {.query = attention_.query_weight(),
                                                  .score = attention_.score_weight(),
                                                  .rnn = rnn_.weights(),
                                                  .order = InputOrder::context_first});
  return {dense_(decoded.states), decoded.weights, decoded.state};
}

BahdanauDecoded BahdanauDecoder::forward(const Tensor& enc, const Tensor& state,
                                         const Tensor& tokens, const Tensor& lengths) const {
  return run(read(enc, lengths), state, tokens);
}

DecoderStep BahdanauDecoder::step(const Tensor& tokens, const DecoderSource& source,
                                  const DecoderState& state) const {
  const BahdanauDecoded one = run(source, state.hidden, tokens.unsqueeze(1));
  return {one.logits.squeeze(1), one.weights.squeeze(1), {.hidden = one.state}};
}

}  // namespace attn::nn
