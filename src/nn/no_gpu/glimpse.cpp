// A build without CUDA has no images on the GPU; these are there for the linker.

#include "nn/gpu/glimpse.hpp"

#include "attn/core/error.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/glimpse/retina.hpp"

namespace attn::gpu {
namespace {

[[noreturn]] void refuse_glimpse() {
  fail<Unsupported>(
      "attn::nn::glimpse: this build has no CUDA; configure it with ATTN_CUDA=ON");
}

}  // namespace

void glimpse(const nn::Retina&, const Tensor&, const Tensor&, const Tensor&) {
  refuse_glimpse();
}
void glimpse_backward(const nn::Retina&, const Tensor&, const Tensor&, const Tensor&) {
  refuse_glimpse();
}

}  // namespace attn::gpu
