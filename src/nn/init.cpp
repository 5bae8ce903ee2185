#include "attn/nn/init.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

Random& random() {
  thread_local Random stream(0);
  return stream;
}
void seed(std::uint64_t seed) {
  random() = Random(seed);
}

namespace {

bool& zero_start() {
  thread_local bool active = false;
  return active;
}

}  // namespace

ZeroStart::ZeroStart() : before_(zero_start()) {
  zero_start() = true;
}
ZeroStart::~ZeroStart() {
  zero_start() = before_;
}

bool starts_at_zero() {
  return zero_start();
}

Tensor standard_normal(const Shape& shape) {
  return starts_at_zero() ? Tensor::zeros(shape) : normal(shape, 0.0, 1.0, random());
}

Tensor uniform_within(const Shape& shape, double bound) {
  if (starts_at_zero()) return Tensor::zeros(shape);
  return uniform(shape, -bound, bound, random());
}

Tensor fan_in_uniform(const Shape& shape, std::int64_t fan_in) {
  const auto width = static_cast<double>(std::max<std::int64_t>(1, fan_in));
  return uniform_within(shape, 1.0 / std::sqrt(width));
}

Tensor glorot_uniform(const Shape& shape) {
  const auto width = static_cast<double>(std::max<std::int64_t>(1, shape[-1] + shape[-2]));
  return uniform_within(shape, std::sqrt(6.0 / width));
}

}  // namespace attn::nn
