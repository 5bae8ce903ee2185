/// Average pooling: attention without a query, every valid item counting the same.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// out = (1 / len) sum_{t < len} v_t: values [batch, items, dim] -> output [batch, dim], and
/// on demand weights [batch, items]. valid_lens i64 [batch], or none; a length of 0 gives 0.
Attended average_pooling(const Tensor& values, const Tensor& valid_lens = {},
                         const Want& want = Want::output);

}  // namespace attn::nn
