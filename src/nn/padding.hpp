/// What mechanisms with lengths share: numbers past a length are set to zero before anything is
/// multiplied with them, so that a zero gradient never meets a NaN.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/spec/mask.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn::padding {

/// x [batch, positions, ...] with zeros past the lengths i64 [batch]; x itself without lengths.
Tensor zero_past(const Tensor& x, const Tensor& lengths);

/// ids i64 [..., positions] with 0 past the lengths i64 [...]; `ids` itself without lengths.
Tensor zero_ids_past(const Tensor& ids, const Tensor& lengths);

/// Boolean [batch, extent] on `device`: true for the first lengths[b] places. Lengths may lie
/// anywhere.
Tensor first_places(const Tensor& lengths, std::int64_t extent, Device device);

/// i64 numbers where `keep` (boolean, broadcast) holds, else `otherwise`.
Tensor keep_numbers(const Tensor& numbers, const Tensor& keep, std::int64_t otherwise);

/// Boolean, like x: true for all but -inf, which is a masked score or the sum of none.
Tensor is_score(const Tensor& x);

/// The lengths, or `extent` for every row of the batch.
Tensor or_full(const Tensor& lengths, std::int64_t batch, std::int64_t extent);

/// Keeps pairs whose query and key both exist; either lengths may be left out.
spec::Mask pairs(const Tensor& query_lengths, const Tensor& key_lengths, std::int64_t queries,
                 std::int64_t keys);

/// The mask of the lengths, or everything.
spec::Mask keys(const Tensor& lengths);

}  // namespace attn::nn::padding
