#include "tools/conformance/write_rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/kernels/cache.hpp"
#include "attn/kernels/gpu/linear.hpp"
#include "attn/tensor/gpu.hpp"
#include "tools/conformance/array.hpp"
#include "tools/conformance/memory.hpp"
#include "tools/conformance/operators.hpp"

namespace attn::conformance {
namespace {

template <class T>
void write_as(const Path& path, Array& cache, const std::array<std::int64_t, 4>& cache_shape,
              const Array& added, const std::array<std::int64_t, 4>& shape, std::size_t rank,
              const std::vector<std::int64_t>& starts, CacheMode mode) {
  CacheArgs<T> args{.cache = view4(cache.data<T>(), cache_shape, 4),
                    .update = view4(added.data<T>(), shape, rank),
                    .starts = starts.data(),
                    .mode = mode};
  if (!path.is_gpu()) return write_cache(args);
  validate(args);  // the starts are looked at where they are
  Memory memory(path);
  args.cache.data = memory.write<T>(cache);
  args.update.data = memory.read<T>(added);
  args.starts = memory.keep(starts);
  gpu::write_cache(args, gpu::stream());
  memory.finish();
}

}  // namespace

void write_rows(const Path& path, Array& cache, const std::array<std::int64_t, 4>& cache_shape,
                const Array& added, const std::array<std::int64_t, 4>& shape, std::size_t rank,
                const std::vector<std::int64_t>& starts, CacheMode mode) {
  switch (size_of(cache.dtype)) {
    case 1:
      return write_as<std::uint8_t>(path, cache, cache_shape, added, shape, rank, starts, mode);
    case 2:
      return write_as<std::uint16_t>(path, cache, cache_shape, added, shape, rank, starts,
                                     mode);
    case 4:
      return write_as<std::uint32_t>(path, cache, cache_shape, added, shape, rank, starts,
                                     mode);
    default:
      return write_as<std::uint64_t>(path, cache, cache_shape, added, shape, rank, starts,
                                     mode);
  }
}

void write_rows(const Path& path, Array& cache, const Array& added,
                const std::array<std::int64_t, 4>& shape, std::size_t rank,
                std::int64_t start) {
  const std::vector<std::int64_t> starts(
      static_cast<std::size_t>(std::max<std::int64_t>(shape[0], 1)), start);
  write_rows(path, cache, shape4_of(cache, {}, "cache"), added, shape, rank, starts,
             CacheMode::linear);
}

}  // namespace attn::conformance
