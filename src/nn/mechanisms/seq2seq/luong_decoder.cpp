#include "attn/nn/mechanisms/seq2seq/luong_decoder.hpp"

#include "attn/core/error.hpp"
#include "attn/nn/attention/luong_attention.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/nn/recurrent/luong_loop.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

LuongLoopOptions loop_of(const LuongDecoderOptions& options) {
  if (options.score == LuongScore::location)
    fail("attn::nn::LuongDecoder: the location score; dot, general and concat are accepted");
  return {.embedding = options.embedding,
          .hidden = options.hidden,
          .attentional = options.attentional,
          .layers = options.layers,
          .feeding = options.feeding,
          .attention = {.query_dim = options.hidden,
                        .key_dim = options.hidden,
                        .score = options.score,
                        .hidden_dim = options.concat_dim}};
}

}  // namespace

LuongDecoder::LuongDecoder(const LuongDecoderOptions& options)
    : embedding_(add("embedding",
                     Embedding({.rows = options.vocabulary, .features = options.embedding}))),
      loop_(add_unnamed(LuongLoop(loop_of(options)))),
      w_s_(add("W_s", without_bias(options.attentional, options.vocabulary))) {}

DecoderSource LuongDecoder::read(const Tensor& enc, const Tensor& lengths) const {
  const Tensor values = padding::zero_past(enc, lengths);
  return loop_.attention().read(values, values, lengths);
}

DecoderState LuongDecoder::start(const Tensor& h, const Tensor& c) const {
  return loop_.start(h, c);
}

LuongDecoded LuongDecoder::forward(const Tensor& enc, const Tensor& h, const Tensor& c,
                                   const Tensor& tokens, const Tensor& lengths) const {
  DecoderState state = start(h, c);
  const auto [attentional, weights] = loop_.run(embedding_(tokens), read(enc, lengths), state);
  return {attentional, w_s_(attentional), weights, state.hidden, state.cell};
}

DecoderStep LuongDecoder::step(const Tensor& tokens, const DecoderSource& source,
                               const DecoderState& state) const {
  DecoderState after = state;
  const auto [attentional, weights] = loop_.run(embedding_(tokens.unsqueeze(1)), source, after);
  return {w_s_(attentional).squeeze(1), weights.squeeze(1), after};
}

}  // namespace attn::nn
