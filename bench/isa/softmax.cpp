// The softmax of the unfused path, row by row, and its gradient.

// SPDX-License-Identifier: Apache-2.0

#include <hwy/highway.h>

#include <cstdint>

#include "isa/functions.hpp"

namespace attn::bench::ATTN_TARGET {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<float>;
using V = hn::Vec<Tag>;

/// e^x for x <= 0: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2] (Cephes), 2 ulp.
HWY_INLINE V exp_negative(V x) {
  const Tag d;
  const hn::RebindToSigned<Tag> di;
  x = hn::Max(x, hn::Set(d, -87.0f));
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  V y = hn::Set(d, 1.9875691500e-4f);
  y = hn::MulAdd(y, r, hn::Set(d, 1.3981999507e-3f));
  y = hn::MulAdd(y, r, hn::Set(d, 8.3334519073e-3f));
  y = hn::MulAdd(y, r, hn::Set(d, 4.1665795894e-2f));
  y = hn::MulAdd(y, r, hn::Set(d, 1.6666665459e-1f));
  y = hn::MulAdd(y, r, hn::Set(d, 5.0000001201e-1f));
  y = hn::MulAdd(y, hn::Mul(r, r), hn::Add(r, hn::Set(d, 1.0f)));
  const auto exponent = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127)));
  return hn::Mul(y, hn::BitCast(d, exponent));
}

float exp_negative(float x) {
  const Tag d;
  return hn::GetLane(exp_negative(hn::Set(d, x)));
}

}  // namespace

void softmax(float* row, std::int64_t count) {
  const Tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (count == 0) return;

  float max = row[0];
  V max_lanes = hn::Set(d, max);
  std::int64_t j = 0;
  for (; j + lanes <= count; j += lanes) max_lanes = hn::Max(max_lanes, hn::LoadU(d, row + j));
  max = hn::GetLane(hn::MaxOfLanes(d, max_lanes));
  for (; j < count; ++j) max = row[j] > max ? row[j] : max;

  const V shift = hn::Set(d, max);
  V sum_lanes = hn::Zero(d);
  for (j = 0; j + lanes <= count; j += lanes) {
    const V e = exp_negative(hn::Sub(hn::LoadU(d, row + j), shift));
    hn::StoreU(e, d, row + j);
    sum_lanes = hn::Add(sum_lanes, e);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, sum_lanes));
  for (; j < count; ++j) {
    row[j] = exp_negative(row[j] - max);
    sum += row[j];
  }

  const V scale = hn::Set(d, 1.0f / sum);
  for (j = 0; j + lanes <= count; j += lanes) {
    hn::StoreU(hn::Mul(scale, hn::LoadU(d, row + j)), d, row + j);
  }
  for (; j < count; ++j) row[j] *= 1.0f / sum;
}

void softmax_backward(float* grad, const float* weights, float scale, std::int64_t count) {
  const Tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V dot_lanes = hn::Zero(d);
  std::int64_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    dot_lanes = hn::MulAdd(hn::LoadU(d, grad + j), hn::LoadU(d, weights + j), dot_lanes);
  }
  float dot = hn::GetLane(hn::SumOfLanes(d, dot_lanes));
  for (; j < count; ++j) dot += grad[j] * weights[j];

  const V shift = hn::Set(d, dot);
  const V factor = hn::Set(d, scale);
  for (j = 0; j + lanes <= count; j += lanes) {
    const V centred = hn::Sub(hn::LoadU(d, grad + j), shift);
    hn::StoreU(hn::Mul(hn::Mul(factor, hn::LoadU(d, weights + j)), centred), d, grad + j);
  }
  for (; j < count; ++j) grad[j] = scale * weights[j] * (grad[j] - dot);
}

}  // namespace attn::bench::ATTN_TARGET
