/// Multi-head attention with the parameters, masks and corners of torch.nn.MultiheadAttention
/// (batch first), to load its checkpoints. Vaswani et al., 2017, arXiv:1706.03762.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

/// Masks as torch gives them: True means ignore. Each may be left out.
struct TorchMasks {
  Tensor key_padding_mask;  ///< boolean [batch, keys]
  /// Boolean, or real and added to the scores: [queries, keys], or [batch * heads, queries,
  /// keys] with index b * heads + head. An entry of -inf masks its pair.
  Tensor attn_mask;
  /// In this library's polarity, and faster where a formula tells the mask, as spec::causal().
  Mask keep;
};

/// The masks in this library's terms, with so many keys appended that are never masked.
AttentionContext attention_context(const TorchMasks& masks, std::int64_t heads,
                                   std::int64_t appended = 0);

/// Keys and values that are put behind those given, and are never masked.
enum class AppendedKeys { none, learnt, zero, learnt_and_zero };

struct TorchMultiheadAttentionOptions {
  std::int64_t embed_dim;
  std::int64_t heads;     ///< divides embed_dim
  std::int64_t kdim = 0;  ///< features of the keys; 0: embed_dim
  std::int64_t vdim = 0;  ///< features of the values; 0: embed_dim
  Bias bias = Bias::learnt;
  AppendedKeys appended = AppendedKeys::none;
  double dropout = 0.0;  ///< of the weights, while training
};

/// Parameters: in_proj_weight [3 embed_dim, embed_dim], rows in the order q, k, v; or, where
/// kdim or vdim differ, q_proj_weight, k_proj_weight [embed_dim, kdim] and v_proj_weight
/// [embed_dim, vdim]; in_proj_bias [3 embed_dim]; out_proj; bias_k, bias_v [1, 1, embed_dim].
class TorchMultiheadAttention : public MultiHeadAttention {
 public:
  explicit TorchMultiheadAttention(const TorchMultiheadAttentionOptions& options);

  /// query [batch, queries, embed_dim], key [batch, keys, kdim], value [batch, keys, vdim];
  /// output [batch, queries, embed_dim], weights [batch, heads, queries, keys + appended]. A
  /// query that ignores everything has weights 0 and output out_proj.bias, where torch has NaN.
  Attended forward(const Tensor& query, const Tensor& key, const Tensor& value,
                   const TorchMasks& masks = {}, const Want& want = Want::output) const;

 private:
  Tensor with_appended(const Tensor& x, const Tensor& learnt) const;

  AppendedKeys appended_;
  Tensor bias_k_;
  Tensor bias_v_;
};

}  // namespace attn::nn
