/// Luong's decoder: global attention with the current state as the query, and input feeding.
/// Luong, Pham and Manning, 2015, arXiv:1508.04025.

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

enum class LuongScore {
  dot,      ///< h . e
  general,  ///< h^T W_a e
  concat,   ///< v_a . tanh(W_a [h; e])
};

struct LuongDecoderOptions {
  std::int64_t vocabulary;
  std::int64_t embedding;
  std::int64_t hidden;  ///< of the decoder and of the source
  std::int64_t attentional;
  std::int64_t layers = 1;
  LuongScore score = LuongScore::general;
  InputFeeding feeding = InputFeeding::on;
  std::int64_t concat_dim = 0;  ///< rows of W_a for concat; 0: hidden
};

struct LuongDecoded {
  Tensor attentional;  ///< [batch, steps, attentional]
  Tensor logits;       ///< [batch, steps, vocabulary]
  Tensor weights;      ///< [batch, steps, source]
  Tensor h;            ///< [layers, batch, hidden]
  Tensor c;
};

/// h_t = LSTM([y_t; a_{t-1}]), w = softmax(score(h_t, enc)), c_t = sum w enc,
/// a_t = tanh(W_c [c_t; h_t]), logits = W_s a_t; a_{-1} = 0.
///
/// With input feeding it loops over time because a_{t-1} enters the LSTM; the loop is one op
/// (luong_decode), and the projected keys lie outside it. Without, only the LSTM loops, and the
/// queries of all steps are one call of attend.
class LuongDecoder : public Module {
 public:
  explicit LuongDecoder(const LuongDecoderOptions& options);

  /// Teacher forcing: enc [batch, source, hidden], h and c [layers, batch, hidden], tokens i64
  /// [batch, steps], lengths i64 [batch] of the source.
  LuongDecoded forward(const Tensor& enc, const Tensor& h, const Tensor& c,
                       const Tensor& tokens, const Tensor& lengths = {}) const;

  /// The projected keys and enc, made once.
  DecoderSource read(const Tensor& enc, const Tensor& lengths = {}) const;
  /// What decoding begins with: a_{-1} = 0.
  DecoderState start(const Tensor& h, const Tensor& c) const;
  /// One step, tokens i64 [batch].
  DecoderStep step(const Tensor& tokens, const DecoderSource& source,
                   const DecoderState& state) const;

 private:
  LuongWeights weights(InputFeeding feeding) const;
  LuongResult run_without_feeding(const Tensor& y, const DecoderSource& source, const Tensor& h,
                                  const Tensor& c) const;
  /// The half of W_a that meets the query, of concat.
  Tensor query_weight() const;

  LuongScore score_;
  InputFeeding feeding_;
  Embedding embedding_;  ///< "embedding"
  Lstm rnn_;             ///< "rnn", embedding (+ attentional) -> hidden
  Linear w_c_;           ///< "W_c" [attentional, 2 hidden], no bias
  Linear w_s_;           ///< "W_s" [vocabulary, attentional], no bias
  Tensor w_a_;           ///< "W_a.weight" [hidden, hidden], or [concat_dim, 2 hidden]
  Tensor v_a_;           ///< "v_a" [concat_dim], of concat
};

}  // namespace attn::nn
