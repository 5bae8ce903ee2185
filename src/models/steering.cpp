#include "attn/models/steering.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::models {
namespace {

constexpr const char* kWhere = "attn::models::Steering: ";

void check_position(std::int64_t position, std::int64_t extent) {
  if (position < 0 || position >= extent)
    fail(kWhere, "position ", position, " of a source of ", extent, " tokens; 0 to ",
         extent - 1, " are accepted");
}

}  // namespace

void Steering::validate(std::int64_t extent) const {
  if (!std::isfinite(temperature) || temperature <= 0.0)
    fail(kWhere, "temperature ", temperature, "; numbers above 0 are accepted");
  for (const std::int64_t position : forbid) check_position(position, extent);
  for (const Force& one : force) {
    check_position(one.position, extent);
    if (one.step < 0) fail(kWhere, "step ", one.step, "; 0 and more are accepted");
  }
}

Tensor Steering::open(std::int64_t first, std::int64_t steps, std::int64_t extent) const {
  const Tensor flags = Tensor::empty({steps, extent}, DType::boolean);
  auto* flag = flags.mutable_data<bool>();
  std::fill(flag, flag + steps * extent, true);
  for (std::int64_t step = 0; step < steps; ++step) {
    bool* row = flag + step * extent;
    for (const std::int64_t position : forbid)
      if (position < extent) row[position] = false;
    const auto here = [&](const Force& one) { return one.step == first + step; };
    if (std::none_of(force.begin(), force.end(), here)) continue;
    std::fill(row, row + extent, false);
    for (const Force& one : force)
      if (here(one) && one.position < extent) row[one.position] = true;
  }
  return flags;
}

nn::AttentionContext Steering::context(std::int64_t first, std::int64_t steps,
                                       const Tensor& source) const {
  if (as_trained()) return {};
  return {.keep = spec::dense(open(first, steps, source.size(1)).to(source.device())),
          .temperature = temperature};
}

}  // namespace attn::models
