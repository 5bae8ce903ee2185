/// General attention: score(q, k) = q^T W k, a learnt similarity of different spaces.
/// Luong, Pham and Manning, 2015, arXiv:1508.04025.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

struct GeneralAttentionOptions {
  std::int64_t query_dim;
  std::int64_t key_dim;
};

/// w = softmax(q^T W_a k), context = w v. The keys are projected once: W_a k.
class GeneralAttention : public Module {
 public:
  explicit GeneralAttention(const GeneralAttentionOptions& options);

  /// q [batch, queries, query_dim], k [batch, keys, key_dim], v [batch, keys, value_dim].
  Attended forward(const Tensor& q, const Tensor& k, const Tensor& v, const Keep& keep = {},
                   const Want& want = Want::output) const;

 private:
  Linear w_a_;  ///< "W_a" [query_dim, key_dim], no bias
};

}  // namespace attn::nn
