/// The decoders of attention_decoder.hpp on the GPU: one op each, a few launches a step.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/ops/attention_decoder_common.hpp"

namespace attn::op {

/// Inputs as prepare() leaves them, on the tape; results in their type.
BahdanauResult bahdanau_on_gpu(const DecoderInputs& inputs, InputOrder order);
LuongResult luong_on_gpu(const DecoderInputs& inputs, InputFeeding feeding);

/// The columns of the lowest layer's weight for the embedding, and for what else it reads.
struct InputColumns {
  Tensor embedding;
  Tensor other;
};
InputColumns input_columns(const Tensor& weight, std::int64_t embedding, InputOrder order);
/// The inverse.
Tensor joined_columns(const InputColumns& parts, InputOrder order);

/// x [steps, batch, n] as [steps * batch, n].
inline Tensor all_steps(const Tensor& x) {
  return x.reshape({x.size(0) * x.size(1), x.size(2)});
}

}  // namespace attn::op
