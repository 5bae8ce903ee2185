// A build without CUDA has neither parameters nor images on the GPU; these are there for the
// linker.

#include <vector>

#include "attn/core/error.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/gpu/optimiser.hpp"
#include "nn/mechanisms/glimpse/retina.hpp"
#include "nn/updates.hpp"

namespace attn::gpu {
namespace {

[[noreturn]] void refuse(const char* where) {
  fail<Unsupported>("attn::nn::", where,
                    ": this build has no CUDA; configure it with ATTN_CUDA=ON");
}

}  // namespace

void glimpse(const nn::Retina&, const Tensor&, const Tensor&, const Tensor&) {
  refuse("glimpse");
}
void glimpse_backward(const nn::Retina&, const Tensor&, const Tensor&, const Tensor&) {
  refuse("glimpse");
}
void adam(const nn::AdamStep&, const std::vector<Updated>&) {
  refuse("Optimiser");
}
void sgd(const nn::SgdStep&, const std::vector<Updated>&) {
  refuse("Optimiser");
}
void approach(double, const std::vector<Updated>&) {
  refuse("Optimiser");
}
double sum_of_squares(const std::vector<Tensor>&) {
  refuse("Optimiser");
}
void scale(double, const std::vector<Tensor>&) {
  refuse("Optimiser");
}

}  // namespace attn::gpu
