/// Sequence to sequence without attention, the baseline: one vector is all the decoder knows of
/// the source. Sutskever et al., 2014, arXiv:1409.3215; Cho et al., 2014, arXiv:1406.1078.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/nn/recurrent/rnn_encoder.hpp"

namespace attn::nn {

using RnnDecoderOptions = RnnEncoderOptions;

/// s_t = GRU([y_t; c], s_{t-1}), logits = W s_t + b. The GRU loops over time because s_t needs
/// s_{t-1}; its steps are one fused op.
class RnnDecoder : public Module {
 public:
  explicit RnnDecoder(const RnnDecoderOptions& options);

  struct Result {
    Tensor logits;  ///< [batch, steps, vocabulary]
    Tensor state;   ///< [layers, batch, hidden]
  };
  /// tokens i64 [batch, steps], context c [batch, hidden], state [layers, batch, hidden].
  Result forward(const Tensor& tokens, const Tensor& context, const Tensor& state) const;

 private:
  Embedding embedding_;  ///< "embedding"
  Gru rnn_;              ///< "rnn", embedding + hidden -> hidden
  Linear dense_;         ///< "dense"
};

struct Seq2SeqRnnOptions {
  RnnEncoderOptions encoder;
  RnnDecoderOptions decoder;  ///< hidden and layers as in the encoder
};

struct Seq2SeqRnnResult {
  Tensor enc_outputs;  ///< [batch, source, hidden]
  Tensor enc_state;    ///< [layers, batch, hidden], the last valid ones
  Tensor logits;       ///< [batch, steps, vocabulary]
  Tensor state;        ///< [layers, batch, hidden]
};

/// c is the last valid state of the encoder's top layer; it both starts and conditions the
/// decoder.
class Seq2SeqRnn : public Module {
 public:
  explicit Seq2SeqRnn(const Seq2SeqRnnOptions& options);

  /// Teacher forcing: source i64 [batch, source], target i64 [batch, steps].
  Seq2SeqRnnResult forward(const Tensor& source, const Tensor& target,
                           const Tensor& lengths = {}) const;

  /// What decoding begins with.
  DecoderState start(const Tensor& source, const Tensor& lengths = {}) const;
  /// What is read at every step: the one value c, [batch, 1, hidden].
  DecoderSource read(const DecoderState& start) const;
  /// One step, tokens i64 [batch]; there are no weights.
  DecoderStep step(const Tensor& tokens, const DecoderSource& source,
                   const DecoderState& state) const;

 private:
  RnnEncoder encoder_;  ///< "encoder"
  RnnDecoder decoder_;  ///< "decoder"
};

}  // namespace attn::nn
