/// Pooling without attention, the baselines: the mean and the maximum.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/reduce.hpp"

namespace attn::nn {

/// Average pooling: attention without a query, every valid item counting the same.
///
/// out = (1 / len) sum_{t < len} v_t: values [batch, items, dim] -> output [batch, dim], and
/// on demand weights [batch, items]. valid_lens i64 [batch], or none; a length of 0 gives 0.
Attended average_pooling(const Tensor& values, const Tensor& valid_lens = {},
                         const Want& want = Want::output);

/// Max pooling: the largest valid number of each feature.
///
/// out_d = max_{t < len} v_td: values [batch, items, dim] -> values [batch, dim] and indices
/// i64 [batch, dim], the first of equals, where the gradient goes. valid_lens i64 [batch], or
/// none; a length of 0 gives value 0, index -1 and gradient 0.
Maximum max_pooling(const Tensor& values, const Tensor& valid_lens = {});

}  // namespace attn::nn
