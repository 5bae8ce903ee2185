#include "models/transformer/places.hpp"

#include <cstdint>
#include <mutex>

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

namespace {

Places part(const Places& all, std::int64_t begin, std::int64_t end) {
  Places some = all;
  if (all.sines.defined()) some.sines = all.sines.slice(0, begin, end);
  if (all.turns.cos.defined()) {
    some.turns.cos = all.turns.cos.slice(1, begin, end);
    some.turns.sin = all.turns.sin.slice(1, begin, end);
  }
  return some;
}

}  // namespace

Places Places::at(std::int64_t place) const {
  return part(*this, place, place + 1);
}

Places Places::first(std::int64_t count) const {
  return part(*this, 0, count);
}

Places Places::to(Device device) const {
  Places moved = *this;
  for (Tensor* table : {&moved.sines, &moved.turns.cos, &moved.turns.sin})
    if (table->defined()) *table = table->to(device);
  return moved;
}

Places FirstPlaces::get(const ModelOptions& options, std::int64_t count, DType dtype,
                        Device device) {
  const std::lock_guard lock(guard_);
  if (count > count_ || dtype != dtype_ || device != device_) {
    made_ = places_of(options, {0, count}, dtype).to(device);
    count_ = count;
    dtype_ = dtype;
    device_ = device;
  }
  return made_.first(count);
}

Places places_of(const ModelOptions& options, const PlaceRange& range, DType dtype) {
  const auto [first, count] = range;
  switch (options.positions) {
    case Positions::sinusoidal:
      return {nn::sinusoidal_table(count, options.dim, {.offset = first}, dtype), {}};
    case Positions::rotary: {
      const Tensor places = Tensor::arange(first + count).slice(0, first, first + count);
      // Angles of 16-bit words are f32, as rotary() takes them.
      const DType wide = dtype == DType::f64 ? DType::f64 : DType::f32;
      return {{}, rotary_table(places, {.rotary_dim = options.dim / options.heads}, wide)};
    }
    case Positions::relative:
      break;
  }
  return {};
}

}  // namespace attn::models::transformer
