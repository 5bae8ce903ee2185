/// Local-m: query t looks at a window around place t alone, as if both sides ran in step.
/// Luong, Pham and Manning, 2015, arXiv:1508.04025.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/attention/luong_attention.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

struct LocalMonotonicOptions {
  std::int64_t window;  ///< D, on either side
  LocalScoreOptions score{};
  Fade fade = Fade::none;
  std::int64_t offset = 0;
};

/// p_t = t + offset, w = softmax of the scores with |s - p_t| <= D. Windows are clipped at the
/// ends, not shifted; one wholly past the sentence gives zeros. Keys outside are not scored.
class LocalMonotonicAttention : public LuongAttention {
 public:
  explicit LocalMonotonicAttention(const LocalMonotonicOptions& options);

  /// q [batch, queries, query_dim], k [batch, keys, key_dim], v [batch, keys, value_dim],
  /// lengths i64 [batch] or none.
  Attended forward(const Tensor& q, const Tensor& k, const Tensor& v,
                   const Tensor& lengths = {}, const Want& want = Want::output) const;

 private:
  std::int64_t offset_;
};

}  // namespace attn::nn
