/// Attention over attention: the query's words weigh what each of them found in the document.
/// Cui et al., 2017, arXiv:1607.04423.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/attend.hpp"

namespace attn::nn {

struct AttentionOverAttentionInputs {
  Tensor document;         ///< [batch, document words, dim]
  Tensor query;            ///< [batch, query words, dim]
  Tensor document_ids;     ///< i64 [batch, document words]; past the length anything
  Tensor document_lens{};  ///< i64 [batch], or none
  Tensor query_lens{};
};

struct AttentionOverAttentionResult {
  Tensor alpha;       ///< [batch, document words, query words]; only where weights are wanted
  Tensor beta;        ///< [batch, query words]
  Tensor s;           ///< [batch, document words]
  Tensor word_probs;  ///< [batch, vocab_size]
};

/// M = D Q^T; alpha = softmax of M over the document, beta = mean over valid document words of
/// the softmax of M over the query, s = alpha beta, word_probs(w) = sum of s_i with id_i = w.
/// Neither M nor alpha is made unless alpha is wanted. Nothing is learnt here.
AttentionOverAttentionResult attention_over_attention(const AttentionOverAttentionInputs& in,
                                                      std::int64_t vocab_size,
                                                      const Want& want = Want::output);

}  // namespace attn::nn
