/// Multi-dimensional attention: a score for each feature instead of one for each token. Shen
/// et al., 2018, arXiv:1709.04696.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"

namespace attn::nn {

struct SourceToTokenOptions {
  std::int64_t dim;
  std::int64_t hidden = 0;  ///< 0: dim, as in the paper
  Activation activation = Activation::elu;
};

struct SourceLook {
  Tensor output;   ///< [batch, dim]
  Tensor weights;  ///< [batch, tokens, dim]
};

/// f = W2 act(W1 x + b1) + b2, softmax over tokens for each feature, output = sum_t w_t * x_t.
class SourceToTokenAttention : public Module {
 public:
  explicit SourceToTokenAttention(const SourceToTokenOptions& options);

  /// x [batch, tokens, dim], lengths i64 [batch] or none.
  SourceLook forward(const Tensor& x, const Tensor& lengths = {}) const;

 private:
  Activation activation_;
  Linear w1_;
  Linear w2_;
};

/// Which tokens i token j may look at: all, i < j, or i > j.
enum class TokenOrder { all, forward, backward };

struct TokenToTokenOptions {
  std::int64_t dim;
  double cap = 5.0;  ///< c
  TokenOrder order = TokenOrder::all;
};

struct TokenLook {
  Tensor output;   ///< [batch, tokens, dim]
  Tensor context;  ///< [batch, tokens, dim]
  Tensor weights;  ///< [batch, tokens j, tokens i, dim]; not defined unless wanted
};

/// f_ij = c tanh((W1 x_i + W2 x_j + b) / c), softmax over i for each feature, context =
/// sum_i w_ij * x_i, gate F = sigmoid(W_f1 context + W_f2 x + b), output = F x + (1 - F)
/// context. Rows past the length are 0. No [tokens, tokens, dim] is made unless wanted.
class TokenToTokenAttention : public Module {
 public:
  explicit TokenToTokenAttention(const TokenToTokenOptions& options);

  /// x [batch, tokens, dim], lengths i64 [batch] or none.
  TokenLook forward(const Tensor& x, const Tensor& lengths = {},
                    const Want& want = Want::output) const;

 private:
  TokenToTokenOptions options_;
  Linear w1_;   ///< no bias
  Linear w2_;   ///< its bias is b
  Linear wf1_;  ///< "W_f1", no bias
  Linear wf2_;  ///< "W_f2"
};

}  // namespace attn::nn
