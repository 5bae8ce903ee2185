// Positions that are added to features, turn them, or lower scores.

#include <cmath>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/position/alibi.hpp"
#include "attn/nn/position/learned_position.hpp"
#include "attn/nn/position/rotary.hpp"
#include "attn/nn/position/sinusoidal_encoding.hpp"
#include "attn/score/alibi.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/rotary.hpp"
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

LearnedPosition::LearnedPosition(const LearnedPositionOptions& options)
    : p_(add("P", Embedding({.rows = options.max_positions, .features = options.dim}))) {}

Tensor LearnedPosition::operator()(const Tensor& x, std::int64_t offset) const {
  const Tensor& table = p_.weight();
  if (x.rank() < 2 || x.size(-1) != table.size(1))
    fail("attn::nn::LearnedPosition: x ", x.text(), "; [batch, positions, ", table.size(1),
         "] is accepted");
  const std::int64_t end = offset + x.size(-2);
  if (offset < 0 || end > table.size(0))
    fail("attn::nn::LearnedPosition: positions ", offset, " to ", end, "; 0 to ", table.size(0),
         " are accepted");
  return x + table.slice(0, offset, end);
}

Rotated rotate(const Tensor& queries, const Tensor& keys, const Tensor& positions,
               const RotaryOptions& options) {
  return {rotary(queries, positions, options), rotary(keys, positions, options)};
}

Rotated rotate(const Tensor& queries, const Tensor& keys, std::int64_t offset,
               const RotaryOptions& options) {
  return {rotary(queries, offset, options), rotary(keys, offset, options)};
}

Tensor alibi_slopes(std::int64_t heads, DType dtype) {
  const Tensor slopes = Tensor::empty({heads}, DType::f64);
  score::fill_alibi_slopes(slopes.mutable_data<double>(), static_cast<int>(heads));
  return slopes.to(dtype);
}

Attended alibi_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& keep,
                         const Want& want, spec::Offset query_offset) {
  return attend(q, k, v, spec::scaled_dot() | spec::alibi(query_offset), keep, spec::softmax(),
                want);
}

}  // namespace attn::nn
