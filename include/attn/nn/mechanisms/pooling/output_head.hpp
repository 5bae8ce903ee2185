/// Scaled dot attention with a projection and an activation behind it: the whole way from a
/// query to an answer. Vaswani et al., 2017, arXiv:1706.03762.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"

namespace attn::nn {

struct OutputHeadOptions {
  std::int64_t value_dim;
  std::int64_t out;
  Activation activation = Activation::identity;
};

/// h = softmax(q k^T / sqrt(dim)) v, y = f(W_o h + b_o). A query without keys gets f(b_o).
class OutputHead : public Module {
 public:
  explicit OutputHead(const OutputHeadOptions& options);

  struct Result {
    Tensor output;   ///< [batch, queries, out]
    Tensor hidden;   ///< [batch, queries, value_dim]
    Tensor weights;  ///< [batch, queries, keys], where they are wanted
  };
  /// q [batch, queries, dim], k [batch, keys, dim], v [batch, keys, value_dim].
  Result forward(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& keep = {},
                 const Want& want = Want::output) const;

 private:
  Activation activation_;
  Linear w_o_;  ///< "W_o" [out, value_dim], with bias
};

}  // namespace attn::nn
