/// Luong's decoder: global attention with the current state as the query, and input feeding.
/// Luong, Pham and Manning, 2015, arXiv:1508.04025.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/attention/luong_attention.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/nn/recurrent/luong_loop.hpp"

namespace attn::nn {

struct LuongDecoderOptions {
  std::int64_t vocabulary;
  std::int64_t embedding;
  std::int64_t hidden;  ///< of the decoder and of the source
  std::int64_t attentional;
  std::int64_t layers = 1;
  LuongScore score = LuongScore::general;  ///< dot, general or concat
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
  Embedding embedding_;  ///< "embedding"
  LuongLoop loop_;       ///< "rnn", "W_c", "W_a.weight", "v_a"
  Linear w_s_;           ///< "W_s" [vocabulary, attentional], no bias
};

}  // namespace attn::nn
