#include "attn/nn/mechanisms/seq2seq/seq2seq_rnn.hpp"

#include "attn/core/error.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/nn/recurrent/rnn_encoder.hpp"
#include "attn/tensor/ops/join.hpp"

namespace attn::nn {
namespace {

Seq2SeqRnnOptions checked(const Seq2SeqRnnOptions& options) {
  if (options.encoder.hidden != options.decoder.hidden ||
      options.encoder.layers != options.decoder.layers)
    fail("attn::nn::Seq2SeqRnn: encoder of ", options.encoder.layers, " layers of ",
         options.encoder.hidden, ", decoder of ", options.decoder.layers, " layers of ",
         options.decoder.hidden,
         "; equal ones are accepted, since the encoder's states start the decoder");
  return options;
}

/// The state of the top layer, [batch, hidden].
Tensor top(const Tensor& state) {
  return state.select(0, state.size(0) - 1);
}

}  // namespace

RnnDecoder::RnnDecoder(const RnnDecoderOptions& options)
    : embedding_(add("embedding",
                     Embedding({.rows = options.vocabulary, .features = options.embedding}))),
      rnn_(add("rnn", Gru({.in = options.embedding + options.hidden,
                           .hidden = options.hidden,
                           .layers = options.layers}))),
      dense_(add("dense", Linear({.in = options.hidden, .out = options.vocabulary}))) {}

RnnDecoder::Result RnnDecoder::forward(const Tensor& tokens, const Tensor& context,
                                       const Tensor& state) const {
  const Tensor y = embedding_(tokens);
  const Tensor everywhere =
      context.unsqueeze(1).expand({y.size(0), y.size(1), context.size(1)});
  const GruResult run = rnn_(concat({y, everywhere}, 2), state);
  return {dense_(run.out), run.state};
}

Seq2SeqRnn::Seq2SeqRnn(const Seq2SeqRnnOptions& options)
    : encoder_(add("encoder", RnnEncoder(checked(options).encoder))),
      decoder_(add("decoder", RnnDecoder(options.decoder))) {}

Seq2SeqRnnResult Seq2SeqRnn::forward(const Tensor& source, const Tensor& target,
                                     const Tensor& lengths) const {
  const GruResult read = encoder_.forward(source, lengths);
  const RnnDecoder::Result written = decoder_.forward(target, top(read.state), read.state);
  return {read.out, read.state, written.logits, written.state};
}

DecoderState Seq2SeqRnn::start(const Tensor& source, const Tensor& lengths) const {
  return {.hidden = encoder_.forward(source, lengths).state};
}

DecoderSource Seq2SeqRnn::read(const DecoderState& start) const {
  return {.keys = {}, .values = top(start.hidden).unsqueeze(1), .lengths = {}};
}

DecoderStep Seq2SeqRnn::step(const Tensor& tokens, const DecoderSource& source,
                             const DecoderState& state) const {
  const RnnDecoder::Result written =
      decoder_.forward(tokens.unsqueeze(1), source.values.squeeze(1), state.hidden);
  return {written.logits.squeeze(1), {}, {.hidden = written.state}};
}

}  // namespace attn::nn
