// A build without CUDA: linear attention, rotary positions and caches on the GPU say that there
// is none.

#include "attn/kernels/gpu/linear.hpp"

#include <cstddef>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"

namespace attn::gpu {
namespace {

[[noreturn]] void refuse(const char* where) {
  fail<Unsupported>(where, ": this build has no CUDA; configure it with ATTN_CUDA=ON");
}

}  // namespace

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
#define ATTN_NO_GPU_REAL(T)                                  \
  template std::size_t linear_workspace(const LinearArgs<T>&); \
  template void linear(const LinearArgs<T>&, void*, Stream);   \
  template void rotate(const RotaryArgs<T>&, Stream);          \
  template void write_cache(const CacheArgs<T>&, Stream);
ATTN_NO_GPU_REAL(double)
ATTN_NO_GPU_REAL(float)
ATTN_NO_GPU_REAL(BFloat16)
ATTN_NO_GPU_REAL(Float16)
#undef ATTN_NO_GPU_REAL
template void write_cache(const CacheArgs<std::uint8_t>&, Stream);
template void write_cache(const CacheArgs<std::uint16_t>&, Stream);
template void write_cache(const CacheArgs<std::uint32_t>&, Stream);
template void write_cache(const CacheArgs<std::uint64_t>&, Stream);
// clang-format on

}  // namespace attn::gpu
