/// What every decoder takes and gives for one step, so that one search serves them all.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <functional>

#include "attn/tensor/ops/attention_decoder.hpp"  // IWYU pragma: export
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// What goes from step to step; parts that a decoder does not have are not defined.
struct DecoderState {
  Tensor hidden;         ///< [layers, batch, hidden]
  Tensor cell{};         ///< the same, of an LSTM
  Tensor attentional{};  ///< [batch, attentional], of a decoder with input feeding
};

struct DecoderStep {
  Tensor logits;   ///< [batch, vocabulary]
  Tensor weights;  ///< [batch, source]; not defined for a decoder without attention
  DecoderState state;
};

/// One step: tokens i64 [batch]. The source (DecoderSource) is bound inside.
using StepFunction = std::function<DecoderStep(const Tensor& tokens, const DecoderState&)>;

/// The chosen rows of the batch, index i64 [rows] on the CPU: what a beam search goes on with.
/// A tensor that is not defined stays so.
Tensor select_rows(const Tensor& x, int axis, const Tensor& index);
DecoderState select_rows(const DecoderState& state, const Tensor& index);
DecoderSource select_rows(const DecoderSource& source, const Tensor& index);

}  // namespace attn::nn
