/// A decoder that looks at the source before each word: additive attention with the previous
/// state as the query. Bahdanau, Cho and Bengio, 2015, arXiv:1409.0473.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/attention/additive_score.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"

namespace attn::nn {

struct BahdanauDecoderOptions {
  std::int64_t vocabulary;
  std::int64_t embedding;
  std::int64_t hidden;
  std::int64_t layers = 1;
  std::int64_t source_dim = 0;     ///< of what is attended to; 0: hidden
  std::int64_t attention_dim = 0;  ///< of the alignment model; 0: hidden
};

struct BahdanauDecoded {
  Tensor logits;   ///< [batch, steps, vocabulary]
  Tensor weights;  ///< [batch, steps, source]
  Tensor state;    ///< [layers, batch, hidden]
};

/// c_t = additive(s_{t-1}, enc), s_t = GRU([c_t; y_t], s_{t-1}), logits = W s_t + b.
///
/// It loops over time because the query of a step is the state the step before left behind; the
/// loop is one op (bahdanau_decode). W_k enc, the embeddings and the logits lie outside it.
class BahdanauDecoder : public Module {
 public:
  explicit BahdanauDecoder(const BahdanauDecoderOptions& options);

  /// Teacher forcing: enc [batch, source, source_dim], state [layers, batch, hidden], tokens
  /// i64 [batch, steps], lengths i64 [batch] of the source. Length 0: context 0.
  BahdanauDecoded forward(const Tensor& enc, const Tensor& state, const Tensor& tokens,
                          const Tensor& lengths = {}) const;

  /// W_k enc and enc, made once.
  DecoderSource read(const Tensor& enc, const Tensor& lengths = {}) const;
  /// Any number of steps over what was read.
  BahdanauDecoded run(const DecoderSource& source, const Tensor& state,
                      const Tensor& tokens) const;
  /// One step, tokens i64 [batch].
  DecoderStep step(const Tensor& tokens, const DecoderSource& source,
                   const DecoderState& state) const;

 private:
  Embedding embedding_;      ///< "embedding"
  AdditiveScore attention_;  ///< "attention"
  Gru rnn_;                  ///< "rnn", source_dim + embedding -> hidden
  Linear dense_;             ///< "dense"
};

}  // namespace attn::nn
