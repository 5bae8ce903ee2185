/// Pointer network: the weights are the answer, a distribution over the places of the input.
/// Vinyals, Fortunato and Jaitly, 2015, arXiv:1506.03134.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/linear.hpp"

namespace attn::nn {

struct PointerOptions {
  std::int64_t encoder_dim;
  std::int64_t decoder_dim;
  std::int64_t hidden;
};

/// Where each query may point. Everything may be left out.
struct PointerReach {
  Tensor lengths;  ///< i64 [batch]: the first places count
  Tensor visited;  ///< boolean [batch, queries, places]: true has been chosen before
};

struct Pointed {
  Tensor weights;   ///< [batch, queries, places]
  Tensor log_prob;  ///< [batch, queries] of the targets; not defined without them
};

/// p = softmax(v^T tanh(W1 e_j + W2 d_i)) over the valid places that were not visited.
class Pointer : public Module {
 public:
  explicit Pointer(const PointerOptions& options);

  /// encoder [batch, places, encoder_dim], decoder [batch, queries, decoder_dim]. `targets`
  /// i64 [batch, queries], -1: none. log_prob is score - log_sum_exp, so it stays finite where
  /// the weight is 0 in floating point. It is 0 without a target and for a query that can point
  /// nowhere, and -inf, without a gradient, for a target out of reach.
  Pointed forward(const Tensor& encoder, const Tensor& decoder, const PointerReach& reach = {},
                  const Tensor& targets = {}) const;

 private:
  /// v . tanh(key + query) at the targets alone, [batch, queries].
  Tensor target_scores(const Tensor& keys, const Tensor& queries, const Tensor& targets) const;

  Linear w1_;  ///< "W1" [hidden, encoder_dim], no bias
  Linear w2_;  ///< "W2" [hidden, decoder_dim], no bias
  Tensor v_;   ///< "v" [hidden]
};

}  // namespace attn::nn
