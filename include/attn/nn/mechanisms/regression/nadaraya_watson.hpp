/// Kernel regression as attention: points near the query count more.
/// Nadaraya, 1964; Watson, 1964.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/attend.hpp"

namespace attn::nn {

/// f(q) = sum_j softmax_j(-1/2 |(q - k_j) w|^2) v_j: q [batch, queries, dim], k [batch, keys,
/// dim], v [batch, keys, value_dim]. The width w is [1], [dim] (feature by feature) or none,
/// which is 1. Distances are summed from differences, so near points keep their digits.
Attended nadaraya_watson(const Tensor& q, const Tensor& k, const Tensor& v,
                         const Tensor& width = {}, const Mask& keep = {},
                         const Want& want = Want::output);

/// The same for plain numbers: queries [queries], keys and values [keys], or either of them
/// [queries, keys] where each query has its own. Output [queries], weights [queries, keys].
Attended nadaraya_watson_scalar(const Tensor& queries, const Tensor& keys, const Tensor& values,
                                const Tensor& width = {}, const Mask& keep = {},
                                const Want& want = Want::output);

}  // namespace attn::nn
