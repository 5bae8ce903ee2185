#include "models/transformer/places.hpp"

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/models/options.hpp"
#include "attn/nn/position/sinusoidal_encoding.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models::transformer {

Tensor Places::added_to(const Tensor& words) const {
  return sines.defined() ? words + sines : words;
}

Places Places::at(std::int64_t place) const {
  Places one = *this;
  if (sines.defined()) one.sines = sines.slice(0, place, place + 1);
  if (turns.cos.defined()) {
    one.turns.cos = turns.cos.slice(1, place, place + 1);
    one.turns.sin = turns.sin.slice(1, place, place + 1);
  }
  return one;
}

Places places_of(const ModelOptions& options, const PlaceRange& range, DType dtype) {
  const auto [first, count] = range;
  switch (options.positions) {
    case Positions::sinusoidal:
      return {nn::sinusoidal_table(count, options.dim, {.offset = first}, dtype), {}};
    case Positions::rotary: {
      const Tensor places = Tensor::arange(first + count).slice(0, first, first + count);
      return {{}, rotary_table(places, {.rotary_dim = options.dim / options.heads}, dtype)};
    }
    case Positions::relative:
      break;
  }
  return {};
}

}  // namespace attn::models::transformer
