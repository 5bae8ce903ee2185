/// Hierarchical attention: words make sentences, sentences a document. Yang et al., 2016
/// (NAACL).

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>

#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent.hpp"

namespace attn::nn {

/// What reads the sentence vectors before they are attended to.
enum class SentenceEncoder { none, bigru };

struct HierarchicalAttentionOptions {
  std::int64_t word_dim;
  std::int64_t word_hidden;      ///< of u_w
  std::int64_t sentence_hidden;  ///< of u_s
  SentenceEncoder encoder = SentenceEncoder::none;
  std::int64_t gru_hidden = 0;  ///< of each direction of bigru
};

struct DocumentLook {
  Tensor word_weights;      ///< [batch, sentences, words]
  Tensor sentence_vectors;  ///< [batch, sentences, word_dim]
  Tensor sentence_weights;  ///< [batch, sentences]
  Tensor document;          ///< [batch, word_dim, or 2 gru_hidden]
};

/// u = tanh(W h + b), a = softmax(u . u_w), s = sum of a h; and again over sentences with u_s.
/// A sentence counts if it is one of the first `sentence_lens` and has words; an empty one in
/// the middle still passes through the GRU as zeros.
class HierarchicalAttention : public Module {
 public:
  explicit HierarchicalAttention(const HierarchicalAttentionOptions& options);

  /// word_states [batch, sentences, words, word_dim], word_lens i64 [batch, sentences],
  /// sentence_lens i64 [batch]; either lengths may be left out.
  DocumentLook forward(const Tensor& word_states, const Tensor& word_lens = {},
                       const Tensor& sentence_lens = {}) const;

 private:
  Linear word_;
  Tensor u_w_;
  std::optional<Gru> gru_;
  Linear sentence_;
  Tensor u_s_;
};

}  // namespace attn::nn
