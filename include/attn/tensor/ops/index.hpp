/// Gathering numbers by index, and adding them back.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/tensor.hpp"

namespace attn {

/// Rows of a table: weight [rows, features], ids i64 [...] -> [..., features]. An id outside
/// the table is an error that names it.
Tensor embedding(const Tensor& weight, const Tensor& ids);

/// out[..., i, ...] = x[..., index[..., i, ...], ...] along `axis`; the other extents agree.
Tensor gather(const Tensor& x, int axis, const Tensor& index);

/// zeros with `extent` entries along `axis`, to which x is added at index; an entry named twice
/// adds up.
Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, std::int64_t extent);

/// Chosen positions along an axis: index i64 [count].
Tensor index_select(const Tensor& x, int axis, const Tensor& index);

}  // namespace attn
