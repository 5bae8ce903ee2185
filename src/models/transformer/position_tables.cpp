#include "models/transformer/position_tables.hpp"

#include <cstdint>
#include <mutex>

#include "attn/core/dtype.hpp"
#include "attn/models/options.hpp"
#include "attn/nn/position/sinusoidal_encoding.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models::transformer {

Tensor PositionTables::added_to(const Tensor& words) const {
  return sines.defined() ? words + sines : words;
}

namespace {

PositionTables part(const PositionTables& all, std::int64_t begin, std::int64_t end) {
  PositionTables some = all;
  if (all.sines.defined()) some.sines = all.sines.slice(0, begin, end);
  if (all.rotary.cos.defined()) {
    some.rotary.cos = all.rotary.cos.slice(1, begin, end);
    some.rotary.sin = all.rotary.sin.slice(1, begin, end);
  }
  return some;
}

}  // namespace

PositionTables PositionTables::at(std::int64_t position) const {
  return part(*this, position, position + 1);
}

PositionTables PositionTables::first(std::int64_t count) const {
  return part(*this, 0, count);
}

PositionTables PositionTables::to(Device device) const {
  PositionTables moved = *this;
  for (Tensor* table : {&moved.sines, &moved.rotary.cos, &moved.rotary.sin})
    if (table->defined()) *table = table->to(device);
  return moved;
}

PositionTables PositionCache::get(const ModelOptions& options, std::int64_t count, DType dtype,
                                  Device device) {
  const std::lock_guard lock(guard_);
  if (count > count_ || dtype != dtype_ || device != device_) {
    tables_ = position_tables(options, {0, count}, dtype).to(device);
    count_ = count;
    dtype_ = dtype;
    device_ = device;
  }
  return tables_.first(count);
}

PositionTables position_tables(const ModelOptions& options, const PositionRange& range,
                               DType dtype) {
  const auto [first, count] = range;
  switch (options.positions) {
    case Positions::sinusoidal:
      return {nn::sinusoidal_table(count, options.dim, {.offset = first}, dtype), {}};
    case Positions::rotary: {
      const Tensor positions = Tensor::arange(first + count).slice(0, first, first + count);
      // Angles of 16-bit words are f32, as rotary() takes them.
      const DType wide = dtype == DType::f64 ? DType::f64 : DType::f32;
      return {{}, rotary_table(positions, {.rotary_dim = options.dim / options.heads}, wide)};
    }
    case Positions::relative:
    case Positions::none:
      break;
  }
  return {};
}

}  // namespace attn::models::transformer
