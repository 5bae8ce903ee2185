/// Attention that knows how far a key is: a learnt vector for each distance is added to the
/// keys, and another to the values. Shaw, Uszkoreit and Vaswani, 2018, arXiv:1803.02155.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

struct RelativeShawOptions {
  std::int64_t key_dim;         ///< channels of a head; 0: nothing is added to the keys
  std::int64_t value_dim;       ///< 0: nothing is added to the values
  std::int64_t max_distance;    ///< m; farther keys count as if they were this far
  spec::Offset query_offset{};  ///< query i sits at i + offset; left out, keys - queries
};

/// e_ij = q_i . (k_j + rel_k[c]) / sqrt(d), out_i = sum_j w_ij (v_j + rel_v[c]), where c =
/// clip(j - i, -m, m) + m. The vectors are shared by heads. The scores of distances are q
/// rel_k^T, 2 m + 1 a query, and the values of distances are added from sums of weights by
/// distance, so no [queries, keys, d] is built.
class RelativeShaw : public Module {
 public:
  explicit RelativeShaw(const RelativeShawOptions& options);

  /// q [batch, heads, queries, d], k [batch, heads, keys, d], v [batch, heads, keys,
  /// value_dim].
  Attended forward(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& keep = {},
                   const Want& want = Want::output) const;

  /// Which of how many queries.
  struct Query {
    std::int64_t queries;
    std::int64_t query;
  };
  struct Met {
    Tensor keys;    ///< [keys, d]
    Tensor values;  ///< [keys, value_dim]
  };
  /// Keys and values of one head as one query meets them, with the vectors of its distances.
  Met met(const Tensor& k, const Tensor& v, const Query& at) const;

 private:
  RelativeShawOptions options_;
  Tensor rel_k_;  ///< "rel_k" [2 m + 1, key_dim], or none
  Tensor rel_v_;  ///< "rel_v" [2 m + 1, value_dim], or none
};

}  // namespace attn::nn
