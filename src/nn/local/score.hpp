/// The score inside a window: where it is general, the queries are projected, never the keys,
/// of which a window leaves most out.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/local/local_options.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn::local {

/// W_a as it begins, or no tensor for dot.
inline Tensor initial_score(const LocalScoreOptions& options, const char* where) {
  if (options.score == LocalScore::dot) return {};
  if (options.query_dim < 1 || options.key_dim < 1)
    fail(where, ": the general score with query_dim ", options.query_dim, " and key_dim ",
         options.key_dim, "; both at least 1 are accepted");
  return fan_in_uniform({options.query_dim, options.key_dim}, options.key_dim);
}

/// W_a^T q, so that its dot with a key is the score.
inline Tensor scored_query(const Tensor& q, const Tensor& w_a) {
  return w_a.defined() ? matmul(q, w_a) : q;
}

}  // namespace attn::nn::local
