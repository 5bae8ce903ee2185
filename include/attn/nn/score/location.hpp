/// Location attention: the query alone tells where to look. Luong, Pham and Manning, 2015,
/// arXiv:1508.04025.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

struct LocationAttentionOptions {
  std::int64_t query_dim;
  std::int64_t max_keys;
};

/// w = softmax((W_a q)[0 .. keys)), context = w v. Rows of W_a past the keys are not used.
class LocationAttention : public Module {
 public:
  explicit LocationAttention(const LocationAttentionOptions& options);

  /// q [batch, queries, query_dim], v [batch, keys, value_dim], keys <= max_keys.
  Attended forward(const Tensor& q, const Tensor& v, const Keep& keep = {},
                   const Want& want = Want::output) const;

 private:
  Linear w_a_;  ///< "W_a" [max_keys, query_dim], no bias
};

}  // namespace attn::nn
