/// Greedy decoding: the likeliest token of a step is the input of the next.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

struct GreedyOptions {
  std::int64_t bos;  ///< what decoding begins with
  std::int64_t eos;  ///< what ends a row
  std::int64_t pad;  ///< what fills a row after its end
  std::int64_t max_len;
};

struct GreedyDecoded {
  Tensor tokens;   ///< i64 [batch, max_len], without bos, with eos
  Tensor lengths;  ///< i64 [batch], eos counts
  Tensor weights;  ///< [batch, max_len, source], 0 after the end; none without attention
};

/// Runs `step` from `state` until every row has met eos, at most max_len times; of equal logits
/// the first wins. Nothing is recorded on the tape.
GreedyDecoded greedy_decode(const StepFunction& step, DecoderState state,
                            const GreedyOptions& options);

}  // namespace attn::nn
