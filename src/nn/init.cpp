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

Tensor uniform_within(const Shape& shape, double bound) {
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
