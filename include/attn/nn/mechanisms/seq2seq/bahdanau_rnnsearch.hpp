/// RNNsearch, the model that brought attention to translation: a bidirectional encoder,
/// additive attention, a maxout read-out. Bahdanau, Cho and Bengio, 2015, arXiv:1409.0473.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"

namespace attn::nn {

struct RnnSearchOptions {
  std::int64_t source_vocabulary;
  std::int64_t target_vocabulary;
  std::int64_t source_embedding;
  std::int64_t target_embedding;
  std::int64_t encoder_hidden;  ///< of each direction
  std::int64_t decoder_hidden;
  std::int64_t attention_dim;
  std::int64_t maxout;  ///< pairs in the read-out
};

struct RnnSearchDecoded {
  Tensor enc_outputs;  ///< [batch, source, 2 encoder_hidden]
  Tensor logits;       ///< [batch, steps, target_vocabulary]
  Tensor weights;      ///< [batch, steps, source]
  Tensor state;        ///< [batch, decoder_hidden]
};

/// h_j = [->h_j; <-h_j], s_0 = tanh(W_init <-h_1 + b), e_tj = v_a . tanh(W_a s_{t-1} + U_a
/// h_j), s_t = GRU([y_t; c_t], s_{t-1}), m = U_o s_t + V_o y_t + C_o c_t, logits = W_o
/// maxout(m) + b.
///
/// It loops over time because s_{t-1} is the query of step t; the loop is one op. U_a h, the
/// embeddings and the read-out lie outside it. The GRU is torch's, with the reset gate after
/// the recurrent product.
class RnnSearch : public Module {
 public:
  explicit RnnSearch(const RnnSearchOptions& options);

  /// Teacher forcing: source i64 [batch, source], tokens i64 [batch, steps].
  RnnSearchDecoded forward(const Tensor& source, const Tensor& tokens,
                           const Tensor& lengths = {}) const;

  /// What decoding begins with, and what it reads.
  struct Begun {
    DecoderSource source;
    DecoderState state;
  };
  Begun begin(const Tensor& source, const Tensor& lengths = {}) const;
  /// One step, tokens i64 [batch].
  DecoderStep step(const Tensor& tokens, const DecoderSource& source,
                   const DecoderState& state) const;

 private:
  RnnSearchDecoded run(const Tensor& tokens, const DecoderSource& source,
                       const DecoderState& state) const;

  Embedding src_embedding_;  ///< "src_embedding"
  Embedding tgt_embedding_;  ///< "tgt_embedding"
  Gru encoder_;              ///< "encoder", both directions
  Linear w_init_;            ///< "W_init" [decoder_hidden, encoder_hidden]
  Linear w_a_;               ///< "W_a" [attention_dim, decoder_hidden], no bias
  Linear u_a_;               ///< "U_a" [attention_dim, 2 encoder_hidden], no bias
  Tensor v_a_;               ///< "v_a" [attention_dim]
  Gru decoder_;              ///< "decoder"
  Linear u_o_;               ///< "U_o", "V_o", "C_o": [2 maxout, dim], no bias
  Linear v_o_;
  Linear c_o_;
  Linear w_o_;  ///< "W_o" [target_vocabulary, maxout]
};

}  // namespace attn::nn
