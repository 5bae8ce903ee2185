// SPDX-License-Identifier: Apache-2.0

#include "data.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>

namespace attn::bench {
namespace {

constexpr std::align_val_t kAlignment{4096};

/// Steele, Lea and Flood, 2014: a counter in, 64 mixed bits out.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

Buffer::Buffer(std::int64_t size)
    : data_(static_cast<float*>(
          ::operator new(static_cast<std::size_t>(size) * sizeof(float), kAlignment))),
      size_(size) {
  // A pattern that no result holds, so that an unwritten output is seen.
  std::fill_n(data_.get(), size, 1e30f);
}

void Buffer::Free::operator()(float* data) const {
  ::operator delete(data, kAlignment);
}

void fill(Buffer& buffer, std::uint64_t seed, float deviation) {
  // Four 16-bit uniforms summed are close enough to normal, and exact in every program.
  const float scale = deviation * std::sqrt(3.0f) / 65536.0f;
  std::uint64_t counter = mix(seed);
  for (float& x : buffer.span()) {
    const std::uint64_t bits = mix(counter++);
    const auto sum = static_cast<std::int64_t>((bits & 0xffff) + ((bits >> 16) & 0xffff) +
                                               ((bits >> 32) & 0xffff) + (bits >> 48));
    x = static_cast<float>(sum - 2 * 65535) * scale;
  }
}

Data make_data(const Problem& p) {
  const std::int64_t query = p.batch * p.heads * p.queries * p.dim;
  const std::int64_t key = p.batch * p.heads * p.keys * p.dim;
  Data data;
  data.q = Buffer(query);
  data.k = Buffer(key);
  data.v = Buffer(key);
  fill(data.q, 1, 1.0f);
  fill(data.k, 2, 1.0f);
  fill(data.v, 3, 1.0f);
  if (p.pass != Pass::forward) {
    data.grad_out = Buffer(query);
    fill(data.grad_out, 4, 1.0f);
  }
  if (p.family == Family::additive) {
    data.query_projection = Buffer(p.dim * p.dim);
    data.key_projection = Buffer(p.dim * p.dim);
    data.weight = Buffer(p.dim);
    // Xavier: the projected queries and keys keep deviation one.
    const float deviation = 1.0f / std::sqrt(static_cast<float>(p.dim));
    fill(data.query_projection, 5, deviation);
    fill(data.key_projection, 6, deviation);
    fill(data.weight, 7, deviation);
  }
  return data;
}

}  // namespace attn::bench
