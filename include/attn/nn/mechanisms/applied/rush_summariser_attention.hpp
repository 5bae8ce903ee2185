/// The attention of the neural summariser: the last words written look for words of the source,
/// each smoothed with its neighbours. Rush, Chopra and Weston, 2015, arXiv:1509.00685.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"

namespace attn::nn {

/// What a smoothed word is divided by.
enum class SmoothingDivisor {
  reach,  ///< Q, as the paper writes
  count,  ///< the number of valid words in the window
};

struct RushAttentionOptions {
  std::int64_t source_words;  ///< rows of F
  std::int64_t source_dim;
  std::int64_t context_words;  ///< rows of G
  std::int64_t context_dim;
  std::int64_t context_length;  ///< C: how many of the last words are looked at
  std::int64_t reach;           ///< Q
  SmoothingDivisor divisor = SmoothingDivisor::reach;
};

struct RushAttended {
  Tensor weights;   ///< [batch, source]
  Tensor smoothed;  ///< [batch, source, source_dim], 0 past the lengths
  Tensor context;   ///< [batch, source_dim]
};

/// p = softmax(x_i^T P y), smoothed_i = sum_{|q - i| <= Q} x_q / divisor,
/// context = sum p_i smoothed_i, with x = F[source] and y the joined G[last words].
class RushAttention : public Module {
 public:
  explicit RushAttention(const RushAttentionOptions& options);

  /// source i64 [batch, source], last_words i64 [batch, context_length].
  RushAttended forward(const Tensor& source, const Tensor& last_words,
                       const Tensor& lengths = {}) const;

 private:
  /// Smoothing is attention with equal scores inside a window.
  Tensor smooth(const Tensor& words, const Tensor& lengths) const;

  std::int64_t reach_;
  SmoothingDivisor divisor_;
  Embedding f_;  ///< "F" [source_words, source_dim]
  Embedding g_;  ///< "G" [context_words, context_dim]
  Linear p_;     ///< "P" [source_dim, context_length * context_dim], no bias
};

}  // namespace attn::nn
