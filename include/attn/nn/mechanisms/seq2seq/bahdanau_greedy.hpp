/// The Bahdanau decoder run freely: it begins with bos and reads what it wrote.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/mechanisms/seq2seq/bahdanau_decoder.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/nn/recurrent/greedy.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// enc [batch, source, source_dim], state [layers, batch, hidden], lengths i64 [batch] of the
/// source. It loops over time because each token is chosen from the logits of the step before;
/// W_k enc is made once.
inline GreedyDecoded bahdanau_greedy(const BahdanauDecoder& decoder, const Tensor& enc,
                                     const Tensor& state, const Tensor& lengths,
                                     const GreedyOptions& options) {
  const DecoderSource source = decoder.read(enc, lengths);
  return greedy_decode(
      [&](const Tensor& tokens, const DecoderState& before) {
        return decoder.step(tokens, source, before);
      },
      {.hidden = state}, options);
}

}  // namespace attn::nn
