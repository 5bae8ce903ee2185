/// Relative positions of the Music Transformer: every distance has its vector, and the scores
/// of distances are brought into place by a skew. Huang et al., 2018, arXiv:1809.04281.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

/// Whether distances to later keys exist.
enum class Reach { past, both };

struct RelativeSkewOptions {
  std::int64_t length;     ///< L, of queries and keys; with Reach::past at most
  std::int64_t dim;        ///< channels of a head
  std::int64_t heads = 0;  ///< each with its own vectors; 0: all share them
  Reach reach = Reach::past;
};

/// w = softmax((q k^T + S) / sqrt(d)), S_ij = q_i . E_r[L - 1 - (i - j)]: row L - 1 is distance
/// 0. With Reach::past, E_r has L rows and the attention is causal, else 2 L - 1 rows. Then
/// there may be fewer keys than L, and fewer queries than keys, of which the last are theirs,
/// as where earlier keys are cached.
class RelativeSkew : public Module {
 public:
  explicit RelativeSkew(const RelativeSkewOptions& options);

  struct Result {
    Attended attended;
    Tensor s_rel;  ///< S [batch, heads, queries, keys]; 0 above the diagonal with Reach::past
  };
  /// q, k [batch, heads, L, dim], v [batch, heads, L, value_dim]; with Reach::past q [batch,
  /// heads, queries, dim], queries <= keys <= L.
  Result forward(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& keep = {},
                 const Want& want = Want::output) const;

 private:
  Tensor placed(const Tensor& by_distance) const;

  RelativeSkewOptions options_;
  Tensor e_r_;  ///< "E_r" [rows, dim] or [heads, rows, dim]
};

}  // namespace attn::nn
