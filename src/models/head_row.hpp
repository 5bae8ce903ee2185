/// What models need to give a row of a head: scores in double, the keys that a mask leaves.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "attn/models/seq2seq.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::models {

/// InvalidArgument unless the batch is one pair, the head is one of `positions` and the row one
/// of batch.input (of batch.source in the encoder).
void check_head_row(const Batch& batch, const std::vector<HeadPlace>& positions,
                    const HeadPlace& place, std::int64_t row);

/// The same numbers as f32 on the CPU, one after another.
Tensor on_cpu(const Tensor& x);

/// scale * query . key: query [channels], keys [keys, channels] -> f64 [keys].
Tensor product_scores(const Tensor& query, const Tensor& keys, double scale);

/// weight . tanh(query + key) * scale, the same way.
Tensor additive_scores(const Tensor& query, const Tensor& keys, const Tensor& weight,
                       double scale);

/// Which keys `keep` leaves to a row of scores [1, heads, queries, keys]: boolean [keys]. Asked
/// of attend itself, so that every mask means here what it means there.
Tensor open_keys(const Mask& keep, const Shape& scores, const HeadPlace& place,
                 std::int64_t row, Device device);

}  // namespace attn::models
