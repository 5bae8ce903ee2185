/// A decoder that looks at the source before each word: additive attention with the previous
/// state as the query. Bahdanau, Cho and Bengio, 2015, arXiv:1409.0473.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/nn/seq2seq/decoder_step.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// The paper's alignment model a(s, h) = w_v . tanh(W_q s + W_k h) with its parts in reach, as
/// a decoder needs them: W_k h is made once, W_q s at each step.
class AlignmentModel : public Module {
 public:
  AlignmentModel(std::int64_t query_dim, std::int64_t key_dim, std::int64_t hidden);

  Tensor keys(const Tensor& source) const { return w_k_(source); }
  const Tensor& query_weight() const { return w_q_.weight(); }  ///< [hidden, query_dim]
  Tensor score_weight() const { return w_v_.weight().reshape({-1}); }

 private:
  Linear w_q_;  ///< "W_q", no bias
  Linear w_k_;  ///< "W_k", no bias
  Linear w_v_;  ///< "w_v" [1, hidden], no bias
};

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
  Embedding embedding_;       ///< "embedding"
  AlignmentModel attention_;  ///< "attention"
  Gru rnn_;                   ///< "rnn", source_dim + embedding -> hidden
  Linear dense_;              ///< "dense"
};

}  // namespace attn::nn
