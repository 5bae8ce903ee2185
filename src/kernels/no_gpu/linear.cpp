// A build without CUDA: linear attention, rotary positions and caches on the GPU say that there
// is none.

#include "attn/kernels/gpu/linear.hpp"

#include <cstddef>

#include "kernels/no_gpu/refuse.hpp"

namespace attn::gpu {

template <class T>
std::size_t linear_workspace(const LinearArgs<T>&) {
  refuse("attn::gpu::linear_workspace");
}
template <class T>
void linear(const LinearArgs<T>&, void*, Stream) {
  refuse("attn::gpu::linear");
}
template <class T>
void rotate(const RotaryArgs<T>&, Stream) {
  refuse("attn::gpu::rotate");
}
template <class T>
void write_cache(const CacheArgs<T>&, Stream) {
  refuse("attn::gpu::write_cache");
}

// clang-format off
template std::size_t linear_workspace(const LinearArgs<double>&);
template void linear(const LinearArgs<double>&, void*, Stream);
template void rotate(const RotaryArgs<double>&, Stream);
template void write_cache(const CacheArgs<double>&, Stream);
template std::size_t linear_workspace(const LinearArgs<float>&);
template void linear(const LinearArgs<float>&, void*, Stream);
template void rotate(const RotaryArgs<float>&, Stream);
template void write_cache(const CacheArgs<float>&, Stream);
template std::size_t linear_workspace(const LinearArgs<BFloat16>&);
template void linear(const LinearArgs<BFloat16>&, void*, Stream);
template void rotate(const RotaryArgs<BFloat16>&, Stream);
template void write_cache(const CacheArgs<BFloat16>&, Stream);
template std::size_t linear_workspace(const LinearArgs<Float16>&);
template void linear(const LinearArgs<Float16>&, void*, Stream);
template void rotate(const RotaryArgs<Float16>&, Stream);
template void write_cache(const CacheArgs<Float16>&, Stream);
template void write_cache(const CacheArgs<std::uint8_t>&, Stream);
template void write_cache(const CacheArgs<std::uint16_t>&, Stream);
template void write_cache(const CacheArgs<std::uint32_t>&, Stream);
template void write_cache(const CacheArgs<std::uint64_t>&, Stream);
// clang-format on

}  // namespace attn::gpu
