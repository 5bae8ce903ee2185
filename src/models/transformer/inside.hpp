/// What the heads of a call of attention met, for those who look inside a model.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/models/seq2seq.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models::transformer {

struct Inside {
  /// Runs the attention with its weights.
  Inside(const nn::MultiHeadAttention& module, const Tensor& query, const Tensor& memory,
         const nn::AttentionContext& attention_context);

  nn::MultiHeadAttention attention;
  nn::AttentionContext context;
  nn::MultiHeadAttention::Heads heads;
  Tensor weights;  ///< [batch, heads, queries, keys]
  Tensor output;   ///< [batch, queries, heads * channels]

  /// Of the first of the batch.
  HeadRow row(const HeadPlace& place, std::int64_t row) const;
};

}  // namespace attn::models::transformer
