/// Local-p: each query predicts the place it looks at. Luong, Pham and Manning, 2015,
/// arXiv:1508.04025.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/attention/luong_attention.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

struct LocalPredictiveOptions {
  std::int64_t query_dim;
  std::int64_t hidden_dim;
  std::int64_t window;  ///< D, on either side
  LocalScoreOptions score{};
  Fade fade = Fade::gaussian;
};

struct LocalPredicted {
  Tensor centre;  ///< [batch, queries]: p, a real number in [0, length]
  Attended result;
};

/// p = length * sigmoid(v_p . tanh(W_p q)), w_s = softmax in |s - p| <= D, times
/// exp(-(s - p)^2 / (2 sigma^2)) with sigma = D / 2. Nothing is renormalised. The gradient
/// reaches p through the Gaussian alone: which keys are in the window is constant.
class LocalPredictiveAttention : public LuongAttention {
 public:
  explicit LocalPredictiveAttention(const LocalPredictiveOptions& options);

  /// q [batch, queries, query_dim], k [batch, keys, key_dim], v [batch, keys, value_dim],
  /// lengths i64 [batch] or none.
  LocalPredicted forward(const Tensor& q, const Tensor& k, const Tensor& v,
                         const Tensor& lengths = {}, const Want& want = Want::output) const;
};

}  // namespace attn::nn
