#include "attn/kernels/cache.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "attn/core/dtype.hpp"  // IWYU pragma: keep
#include "attn/core/error.hpp"
#include "kernels/check_view.hpp"

namespace attn {
namespace {

constexpr const char* kWhere = "attn::write_cache";

}  // namespace

template <class T>
void validate_shapes(const CacheArgs<T>& args) {
  check_extents(kWhere, "cache", args.cache);
  check_extents(kWhere, "update", args.update);
  const auto& [batches, heads, rows, channels] = args.cache.shape;
  const std::int64_t added = args.update.shape[2];
  check_shape(kWhere, "update", args.update.shape,
              std::array<std::int64_t, 4>{batches, heads, added, channels});
  if (added > rows) fail(kWhere, ": ", added, " new rows; the cache holds ", rows);
}

template <class T>
void validate(const CacheArgs<T>& args) {
  validate_shapes(args);
  if (args.starts == nullptr) return;
  const std::int64_t rows = args.cache.shape[2];
  const std::int64_t added = args.update.shape[2];
  for (std::int64_t b = 0; b < args.cache.shape[0]; ++b) {
    const std::int64_t start = args.starts[b];
    if (start < 0) fail(kWhere, ": batch ", b, " starts at row ", start, "; rows count from 0");
    if (args.mode == CacheMode::linear && start > rows - added)
      fail(kWhere, ": batch ", b, " starts at row ", start, " with ", added,
           " new rows; the cache holds ", rows, ", so it may start at 0..", rows - added);
  }
}

template <class T>
void write_cache(const CacheArgs<T>& args) {
  validate(args);
  const auto& [batches, heads, added, channels] = args.update.shape;
  const std::int64_t rows = args.cache.shape[2];
  if (added == 0) return;
  for (std::int64_t b = 0; b < batches; ++b) {
    // Less than 2^31 after this, so that adding a row cannot overflow.
    const std::int64_t start = args.starts == nullptr ? 0 : args.starts[b] % rows;
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t i = 0; i < added; ++i) {
        const T* from = args.update.at(b, h, i);
        T* to = args.cache.at(b, h, (start + i) % rows);
        if (args.update.strides[3] == 1 && args.cache.strides[3] == 1) {
          std::copy_n(from, channels, to);
          continue;
        }
        for (std::int64_t c = 0; c < channels; ++c)
          to[c * args.cache.strides[3]] = from[c * args.update.strides[3]];
      }
    }
  }
}

// clang-format off
template void validate_shapes(const CacheArgs<double>&);
template void validate(const CacheArgs<double>&);
template void validate_shapes(const CacheArgs<float>&);
template void validate(const CacheArgs<float>&);
template void validate_shapes(const CacheArgs<BFloat16>&);
template void validate(const CacheArgs<BFloat16>&);
template void validate_shapes(const CacheArgs<Float16>&);
template void validate(const CacheArgs<Float16>&);
template void validate_shapes(const CacheArgs<std::uint8_t>&);
template void validate(const CacheArgs<std::uint8_t>&);
template void validate_shapes(const CacheArgs<std::uint16_t>&);
template void validate(const CacheArgs<std::uint16_t>&);
template void validate_shapes(const CacheArgs<std::uint32_t>&);
template void validate(const CacheArgs<std::uint32_t>&);
template void validate_shapes(const CacheArgs<std::uint64_t>&);
template void validate(const CacheArgs<std::uint64_t>&);
template void write_cache(const CacheArgs<double>&);
template void write_cache(const CacheArgs<float>&);
template void write_cache(const CacheArgs<BFloat16>&);
template void write_cache(const CacheArgs<Float16>&);
template void write_cache(const CacheArgs<std::uint8_t>&);
template void write_cache(const CacheArgs<std::uint16_t>&);
template void write_cache(const CacheArgs<std::uint32_t>&);
template void write_cache(const CacheArgs<std::uint64_t>&);
// clang-format on

}  // namespace attn
