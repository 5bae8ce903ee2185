// Writes rows into a KV cache on the GPU.

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/kernels/gpu/linear.hpp"
#include "kernels/gpu/rows/sizes.cuh"

namespace attn::gpu {
namespace {

template <class T>
__global__ void write_cache_kernel(CacheArgs<T> args) {
  const std::int64_t heads = args.update.shape[1];
  const std::int64_t added = args.update.shape[2];
  const std::int64_t channels = args.update.shape[3];
  const std::int64_t rows = args.cache.shape[2];
  for_each_thread(args.update.shape[0] * heads * added * channels, [&](std::int64_t i) {
    const std::int64_t c = i % channels;
    const std::int64_t row = i / channels % added;
    const std::int64_t head = i / channels / added % heads;
    const std::int64_t batch = i / channels / added / heads;
    const std::int64_t start = args.starts == nullptr ? 0 : args.starts[batch] % rows;
    *args.cache.at(batch, head, (start + row) % rows, c) = *args.update.at(batch, head, row, c);
  });
}

}  // namespace

template <class T>
void write_cache(const CacheArgs<T>& args, Stream stream) {
  validate_shapes(args);
  const auto& [batch, heads, added, channels] = args.update.shape;
  launch_threads(&write_cache_kernel<T>, batch * heads * added * channels, stream, args);
}

template void write_cache(const CacheArgs<double>&, Stream);
template void write_cache(const CacheArgs<float>&, Stream);
template void write_cache(const CacheArgs<BFloat16>&, Stream);
template void write_cache(const CacheArgs<Float16>&, Stream);
template void write_cache(const CacheArgs<std::uint8_t>&, Stream);
template void write_cache(const CacheArgs<std::uint16_t>&, Stream);
template void write_cache(const CacheArgs<std::uint32_t>&, Stream);
template void write_cache(const CacheArgs<std::uint64_t>&, Stream);

}  // namespace attn::gpu
