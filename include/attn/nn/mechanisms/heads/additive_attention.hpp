/// Additive attention as a layer: the additive score, with dropout of the weights in training.
/// Bahdanau, Cho and Bengio, 2015, arXiv:1409.0473.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/attention/additive_score.hpp"  // IWYU pragma: export

namespace attn::nn {

using AdditiveAttentionOptions = AdditiveScoreOptions;

/// out = softmax(w_v . tanh(W_q q + W_k k)) v. Parameters W_q.weight [hidden_dim, query_dim],
/// W_k.weight [hidden_dim, key_dim], w_v.weight [1, hidden_dim].
using AdditiveAttention = AdditiveScore;

}  // namespace attn::nn
