// Glimpses of a picture on the GPU: patches around a location at several scales, and their
// gradient.

#include <cstdint>

#include "nn/mechanisms/glimpse/retina.hpp"
#include "tensor/gpu/launch.cuh"

namespace attn::gpu {
namespace {

constexpr const char* kWhere = "attn::nn::glimpse";

template <class T>
__global__ void look_kernel(nn::Retina retina, std::int64_t cells, const T* image,
                            const std::int64_t* centres, T* patches) {
  for_numbers(cells,
              [&](std::int64_t cell) { patches[cell] = retina.look(image, centres, cell); });
}

template <class T>
__global__ void spread_kernel(nn::Retina retina, std::int64_t pixels, const T* patches,
                              const std::int64_t* centres, T* image) {
  for_numbers(pixels, [&](std::int64_t pixel) {
    image[pixel] = retina.spread(patches, centres, pixel);
  });
}

}  // namespace

void glimpse(const nn::Retina& retina, const Tensor& image, const Tensor& centres,
             const Tensor& patches) {
  if (patches.numel() == 0) return;
  op::dispatch_real(image.dtype(), kWhere, [&](auto zero) {
    using T = decltype(zero);
    look_kernel<<<blocks_for(patches.numel()), kThreads, 0, stream()>>>(
        retina, patches.numel(), op::numbers<const T>(image),
        op::numbers<const std::int64_t>(centres), op::numbers<T>(patches));
  });
  check_launch();
}

void glimpse_backward(const nn::Retina& retina, const Tensor& grad, const Tensor& centres,
                      const Tensor& down) {
  if (down.numel() == 0) return;
  op::dispatch_real(grad.dtype(), kWhere, [&](auto zero) {
    using T = decltype(zero);
    spread_kernel<<<blocks_for(down.numel()), kThreads, 0, stream()>>>(
        retina, down.numel(), op::numbers<const T>(grad),
        op::numbers<const std::int64_t>(centres), op::numbers<T>(down));
  });
  check_launch();
}

}  // namespace attn::gpu
