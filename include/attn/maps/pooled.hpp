/// Pools a large matrix into blocks, so that it fits a picture.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "attn/maps/map.hpp"

namespace attn::maps {

/// The largest of each of at most `rows` by `columns` blocks of (nearly) equal size, so that a
/// single strong weight stays visible; as it was where it already fits.
Matrix pooled(const Matrix& matrix, std::size_t rows, std::size_t columns);

/// Where block `index` of `blocks` begins in `count` elements; block `blocks` begins at the
/// end.
constexpr std::size_t block_begin(std::size_t index, std::size_t blocks, std::size_t count) {
  return index * count / blocks;
}

}  // namespace attn::maps
