#include "conformance/write_rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/kernels/cache.hpp"
#include "conformance/array.hpp"
#include "conformance/operators.hpp"

namespace attn::conformance {
namespace {

template <class T>
void write_as(Array& cache, const std::array<std::int64_t, 4>& cache_shape, const Array& added,
              const std::array<std::int64_t, 4>& shape, std::size_t rank,
              const std::vector<std::int64_t>& starts, CacheMode mode) {
  write_cache<T>({.cache = view4(cache.data<T>(), cache_shape, 4),
                  .update = view4(added.data<T>(), shape, rank),
                  .starts = starts.data(),
                  .mode = mode});
}

}  // namespace

void write_rows(Array& cache, const std::array<std::int64_t, 4>& cache_shape,
                const Array& added, const std::array<std::int64_t, 4>& shape, std::size_t rank,
                const std::vector<std::int64_t>& starts, CacheMode mode) {
  switch (size_of(cache.dtype)) {
    case 1:
      return write_as<std::uint8_t>(cache, cache_shape, added, shape, rank, starts, mode);
    case 2:
      return write_as<std::uint16_t>(cache, cache_shape, added, shape, rank, starts, mode);
    case 4:
      return write_as<std::uint32_t>(cache, cache_shape, added, shape, rank, starts, mode);
    default:
      return write_as<std::uint64_t>(cache, cache_shape, added, shape, rank, starts, mode);
  }
}

void write_rows(Array& cache, const Array& added, const std::array<std::int64_t, 4>& shape,
                std::size_t rank, std::int64_t start) {
  const std::vector<std::int64_t> starts(
      static_cast<std::size_t>(std::max<std::int64_t>(shape[0], 1)), start);
  write_rows(cache, shape4_of(cache, {}, "cache"), added, shape, rank, starts,
             CacheMode::linear);
}

}  // namespace attn::conformance
