#include "models/gated_convolution.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/nn/linear.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models {

GatedConvolution::GatedConvolution(std::int64_t dim, std::int64_t kernel)
    : kernel_(kernel),
      product_(add("product", nn::Linear({.in = kernel * dim, .out = 2 * dim}))) {}

Tensor GatedConvolution::operator()(const Tensor& x) const {
  const std::int64_t dim = x.size(2);
  const std::int64_t length = x.size(1) - (kernel_ - 1);
  std::vector<Tensor> neighbours;
  neighbours.reserve(static_cast<std::size_t>(kernel_));
  for (std::int64_t place = 0; place < kernel_; ++place)
    neighbours.push_back(x.slice(1, place, place + length));
  const Tensor both = product_(concat(neighbours, 2));
  return both.slice(2, 0, dim) * sigmoid(both.slice(2, dim, 2 * dim));
}

}  // namespace attn::models
