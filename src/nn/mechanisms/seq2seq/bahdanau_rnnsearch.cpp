#include "attn/nn/mechanisms/seq2seq/bahdanau_rnnsearch.hpp"

#include "attn/nn/embedding.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

/// The larger of each neighbouring pair: [..., 2 n] -> [..., n].
Tensor maxout(const Tensor& m) {
  Shape pairs = m.shape();
  pairs[-1] /= 2;
  pairs.push_back(2);
  return max(m.reshape(pairs), -1).values;
}

}  // namespace

RnnSearch::RnnSearch(const RnnSearchOptions& options)
    : src_embedding_(add("src_embedding", Embedding({.rows = options.source_vocabulary,
                                                     .features = options.source_embedding}))),
      tgt_embedding_(add("tgt_embedding", Embedding({.rows = options.target_vocabulary,
                                                     .features = options.target_embedding}))),
      encoder_(add("encoder", Gru({.in = options.source_embedding,
                                   .hidden = options.encoder_hidden,
                                   .direction = Direction::both}))),
      w_init_(
          add("W_init", Linear({.in = options.encoder_hidden, .out = options.decoder_hidden}))),
      w_a_(add("W_a", without_bias(options.decoder_hidden, options.attention_dim))),
      u_a_(add("U_a", without_bias(2 * options.encoder_hidden, options.attention_dim))),
      v_a_(add("v_a", fan_in_uniform({options.attention_dim}, options.attention_dim))),
      decoder_(add("decoder", Gru({.in = options.target_embedding + 2 * options.encoder_hidden,
                                   .hidden = options.decoder_hidden}))),
      u_o_(add("U_o", without_bias(options.decoder_hidden, 2 * options.maxout))),
      v_o_(add("V_o", without_bias(options.target_embedding, 2 * options.maxout))),
      c_o_(add("C_o", without_bias(2 * options.encoder_hidden, 2 * options.maxout))),
      w_o_(add("W_o", Linear({.in = options.maxout, .out = options.target_vocabulary}))) {}

RnnSearch::Begun RnnSearch::begin(const Tensor& source, const Tensor& lengths) const {
  const GruResult read =
      encoder_(src_embedding_(padding::zero_ids_past(source, lengths)), {}, lengths);
  // The backward direction ends at the first word: its last state is <-h_1.
  const Tensor first = tanh(w_init_(read.state.select(0, 1)));
  return {{u_a_(read.out), read.out, lengths}, {.hidden = first.unsqueeze(0)}};
}

RnnSearchDecoded RnnSearch::run(const Tensor& tokens, const DecoderSource& source,
                                const DecoderState& state) const {
  const Tensor y = tgt_embedding_(tokens);
  const BahdanauResult decoded = bahdanau_decode(y, source, state.hidden,
                                                 {.query = w_a_.weight(),
                                                  .score = v_a_,
                                                  .rnn = decoder_.weights(),
                                                  .order = InputOrder::embedding_first});
  const Tensor m = u_o_(decoded.states) + v_o_(y) + c_o_(decoded.contexts);
  return {source.values, w_o_(maxout(m)), decoded.weights, decoded.state.squeeze(0)};
}

RnnSearchDecoded RnnSearch::forward(const Tensor& source, const Tensor& tokens,
                                    const Tensor& lengths) const {
  const Begun begun = begin(source, lengths);
  return run(tokens, begun.source, begun.state);
}

DecoderStep RnnSearch::step(const Tensor& tokens, const DecoderSource& source,
                            const DecoderState& state) const {
  const RnnSearchDecoded one = run(tokens.unsqueeze(1), source, state);
  return {one.logits.squeeze(1), one.weights.squeeze(1), {.hidden = one.state.unsqueeze(0)}};
}

}  // namespace attn::nn
