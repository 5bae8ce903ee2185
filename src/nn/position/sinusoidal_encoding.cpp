#include "attn/nn/position/sinusoidal_encoding.hpp"

#include <cmath>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

Tensor sinusoidal_table(std::int64_t positions, std::int64_t dim,
                        const SinusoidalOptions& options, DType dtype) {
  const Tensor table = Tensor::empty({positions, dim}, DType::f64);
  auto* to = table.mutable_data<double>();
  const bool halves = options.layout == SinusoidalLayout::halves;
  const std::int64_t sines = (dim + 1) / 2;
  for (std::int64_t j = 0; j < sines; ++j) {
    const double rate =
        std::pow(10000.0, -static_cast<double>(2 * j) / static_cast<double>(dim));
    const std::int64_t sine = halves ? j : 2 * j;
    const std::int64_t cosine = halves ? sines + j : 2 * j + 1;
    for (std::int64_t i = 0; i < positions; ++i) {
      const double angle = static_cast<double>(i + options.offset) * rate;
      to[i * dim + sine] = std::sin(angle);
      if (cosine < dim) to[i * dim + cosine] = std::cos(angle);
    }
  }
  return table.to(dtype);
}

Tensor sinusoidal_encoding(const Tensor& x, const SinusoidalOptions& options) {
  if (x.rank() < 2)
    fail("attn::nn::sinusoidal_encoding: x ", x.text(),
         "; [batch, positions, dim] is accepted");
  return x + sinusoidal_table(x.size(-2), x.size(-1), options, x.dtype()).to(x.device());
}

}  // namespace attn::nn
