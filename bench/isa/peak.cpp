// The limits of one core: multiply-adds a second, and bytes from memory a second.

// SPDX-License-Identifier: Apache-2.0

#include <hwy/highway.h>

#include <cstdint>

#include "isa/functions.hpp"

namespace attn::bench::ATTN_TARGET {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<float>;
using V = hn::Vec<Tag>;

// Latency 4 on two ports asks for 8 chains with FMA; separate multiply and add (SSE4) for
// (3 + 3) · 2 = 12. Twelve and two constants still fit sixteen registers.
constexpr int kChains = 12;

// Reading needs no more than hides the latency of an add behind two loads a cycle.
constexpr int kStreams = 8;

}  // namespace

double multiply_add(std::int64_t rounds, float* sink) {
  const Tag d;
  // acc = acc · x + y stays near 1 for ever: no overflow, no denormals, nothing to hoist.
  const V x = hn::Set(d, 0.5f);
  const V y = hn::Set(d, 0.5f);
  V acc[kChains];
#pragma GCC unroll 16
  for (int i = 0; i < kChains; ++i) acc[i] = hn::Set(d, 1.0f + static_cast<float>(i) * 0.01f);
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i) acc[i] = hn::MulAdd(acc[i], x, y);
  }
  V total = hn::Zero(d);
#pragma GCC unroll 16
  for (int i = 0; i < kChains; ++i) total = hn::Add(total, acc[i]);
  *sink = hn::GetLane(hn::SumOfLanes(d, total));
  return 2.0 * kChains * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

float sum(const float* data, std::int64_t size) {
  const Tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V acc[kStreams];
#pragma GCC unroll 8
  for (int i = 0; i < kStreams; ++i) acc[i] = hn::Zero(d);
  std::int64_t at = 0;
  for (; at + kStreams * lanes <= size; at += kStreams * lanes) {
#pragma GCC unroll 8
    for (int i = 0; i < kStreams; ++i) {
      acc[i] = hn::Add(acc[i], hn::LoadU(d, data + at + i * lanes));
    }
  }
  V total = hn::Zero(d);
#pragma GCC unroll 8
  for (int i = 0; i < kStreams; ++i) total = hn::Add(total, acc[i]);
  float result = hn::GetLane(hn::SumOfLanes(d, total));
  for (; at < size; ++at) result += data[at];
  return result;
}

void triad(float* a, const float* b, const float* c, float s, std::int64_t size) {
  const Tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const V factor = hn::Set(d, s);
  std::int64_t at = 0;
  for (; at + lanes <= size; at += lanes) {
    hn::StoreU(hn::MulAdd(factor, hn::LoadU(d, c + at), hn::LoadU(d, b + at)), d, a + at);
  }
  for (; at < size; ++at) a[at] = b[at] + s * c[at];
}

}  // namespace attn::bench::ATTN_TARGET
