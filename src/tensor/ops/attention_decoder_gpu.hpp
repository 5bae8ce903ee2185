/// The decoders of attention_decoder.hpp on the GPU, made of ops: a step is some ten launches.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/ops/attention_decoder.hpp"
#include "tensor/ops/attention_decoder_common.hpp"

namespace attn::op {

/// Inputs as prepare() leaves them, on the tape; results in their type.
BahdanauResult bahdanau_on_gpu(const DecoderInputs& inputs, InputOrder order);
LuongResult luong_on_gpu(const DecoderInputs& inputs, InputFeeding feeding);

}  // namespace attn::op
