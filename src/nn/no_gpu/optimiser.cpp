// A build without CUDA has no parameters on the GPU; these are there for the linker.

#include "nn/gpu/optimiser.hpp"

#include <vector>

#include "attn/core/error.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/updates.hpp"

namespace attn::gpu {
namespace {

[[noreturn]] void refuse() {
  fail<Unsupported>(
      "attn::nn::Optimiser: this build has no CUDA; configure it with ATTN_CUDA=ON");
}

}  // namespace

void adam(const nn::AdamStep&, const std::vector<Updated>&) {
  refuse();
}
void sgd(const nn::SgdStep&, const std::vector<Updated>&) {
  refuse();
}
void approach(double, const std::vector<Updated>&) {
  refuse();
}
double sum_of_squares(const std::vector<Tensor>&) {
  refuse();
}
void scale(double, const std::vector<Tensor>&) {
  refuse();
}

}  // namespace attn::gpu
