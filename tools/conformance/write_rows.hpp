/// Writing rows of any element type into an array with the library's own cache write.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/kernels/cache.hpp"
#include "tools/conformance/array.hpp"
#include "tools/conformance/operators.hpp"

namespace attn::conformance {

/// cache [batch, heads, rows, channels] takes the rows of `added`, an array of rank 3 or 4 with
/// the extents `shape`, from `start` on.
void write_rows(const Path& path, Array& cache, const Array& added,
                const std::array<std::int64_t, 4>& shape, std::size_t rank, std::int64_t start);

/// The same with arrays laid out as 4 axes and a start for each batch.
void write_rows(const Path& path, Array& cache, const std::array<std::int64_t, 4>& cache_shape,
                const Array& added, const std::array<std::int64_t, 4>& shape, std::size_t rank,
                const std::vector<std::int64_t>& starts, CacheMode mode);

}  // namespace attn::conformance
