/// exp, log, tanh, sigmoid and reciprocal of lanes, to a few roundings of a float: attention
/// needs no more, and gets them in half the time of Highway's contrib/math or less. The errors
/// given are the largest over every third float on AVX2 and SSE4 (lane_math_checks.cpp).

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"
#include "attn/kernels/cpu/lane.hpp"

namespace attn::cpu::inline ATTN_TARGET {

using attn::erf;
using attn::exp;
using attn::exp_below;
using attn::log;
using attn::sigmoid;
using attn::tanh;

namespace detail {

/// c0 + x * (c1 + x * (...)).
ATTN_FN Lane polynomial(Lane, Lane c0) {
  return c0;
}
template <class... Rest>
ATTN_FN Lane polynomial(Lane x, Lane c0, Rest... rest) {
  return multiply_add(polynomial(x, rest...), x, c0);
}

/// Adding 1.5 * 2^23 rounds |y| < 2^22 to the nearest whole number n and leaves it in the low
/// bits; 127 more makes them the exponent field of 2^n.
inline constexpr float kRound = 0x1.8p23f;
inline constexpr float kRoundToExponent = kRound + 127.0f;

/// 2^n from n + 127 as kRoundToExponent leaves it; 0 for n = -127.
ATTN_FN Lane power_of_two(Lane rounded) {
  return Lane(
      simd::BitCast(FloatTag(), simd::ShiftLeft<23>(simd::BitCast(WordTag(), rounded.raw))));
}

inline constexpr float kLog2E = 1.44269504f;
/// ln 2 as the nearest float and what it leaves.
inline constexpr float kLn2 = 0.693147182f;
inline constexpr float kLn2Rest = -1.90465430e-9f;
/// ln 2 in 10 bits, whose products with the 8 bits of n are exact, and what they leave.
inline constexpr float kLn2High = 0.693359375f;
inline constexpr float kLn2Low = -2.12194440e-4f;

/// x - scale * n * ln 2, to the last bit of x.
ATTN_FN Lane minus_ln2(Lane x, Lane n, float scale) {
  // Without a fused multiply-add n * kLn2 would round away what the reduction is after.
  constexpr float kHigh = kFusedMultiplyAdd ? kLn2 : kLn2High;
  constexpr float kLow = kFusedMultiplyAdd ? kLn2Rest : kLn2Low;
  return negative_multiply_add(n, scale * kLow, negative_multiply_add(n, scale * kHigh, x));
}
/// The same with 1.9e-9 * n of error where that saves an operation.
ATTN_FN Lane about_minus_ln2(Lane x, Lane n, float scale) {
  if constexpr (kFusedMultiplyAdd) return negative_multiply_add(n, scale * kLn2, x);
  return minus_ln2(x, n, scale);
}

/// e^(scale * f) = 1 + f * exp_slope(f, scale) for |scale * f| <= ln(2) / 2; scale is a power
/// of two. Remez fit of the relative error with e^0 = 1 held: 2.6e-9; a degree less
/// gives 4.3e-7.
ATTN_FN Lane exp_slope(Lane f, float scale = 1.0f) {
  const float square = scale * scale;
  const float cube = square * scale;
  return polynomial(f, scale, square * 0.5000000435f, cube * 0.1666636532f,
                    square * square * 0.04166477651f, square * cube * 0.008379020699f,
                    cube * cube * 0.001406127625f);
}
/// One step of Newton's iteration for 1 / x.
ATTN_FN Lane newton(Lane x, Lane r) {
  return multiply_add(r, negative_multiply_add(x, r, 1.0f), r);
}

}  // namespace detail

/// e^x for x <= 0, NaN kept: exactly 1 at 0, exactly 0 at -inf and below -87.69. The softmax's
/// own, twelve operations: 1.7 ns a vector on Zen 3 (AVX2), 2.2 ns on Xeon (AVX-512). Relative
/// error 1.4e-7 down to -20, growing to 3.2e-7 at -87.
ATTN_FN Lane exp_nonpositive(Lane x) {
  const Lane bounded = max(-88.0296919f, x);  // -127 ln 2
  const Lane rounded = multiply_add(bounded, detail::kLog2E, detail::kRoundToExponent);
  const Lane n = rounded - detail::kRoundToExponent;
  const Lane f = detail::about_minus_ln2(bounded, n, 1.0f);
  return multiply_add(detail::exp_slope(f), f, 1.0f) * detail::power_of_two(rounded);
}

/// e^(s - top) for s <= top, exactly 0 where s is -inf. The kernels never pass an infinite top
/// for a score that counts, which saves the scalar version's comparison.
ATTN_FN Lane exp_below(Lane s, Lane top) {
  return exp_nonpositive(s - top);
}

/// e^x, NaN kept: 0 below -86.99 (where e^x < 1.7e-38), +inf above 88.72. Relative
/// error 1.6e-7.
ATTN_FN Lane exp(Lane x) {
  const Lane bounded = max(-87.3365448f, min(89.0f, x));  // -126 ln 2
  // One power less, doubled at the end: 2^128 is no float, but e^88.7 is.
  const Lane rounded = multiply_add(bounded, detail::kLog2E, detail::kRoundToExponent - 1.0f);
  const Lane n = rounded - (detail::kRoundToExponent - 1.0f);
  const Lane f = detail::minus_ln2(bounded, n, 1.0f);
  return multiply_add(detail::exp_slope(f), f, 1.0f) * detail::power_of_two(rounded) * 2.0f;
}

/// tanh x = t / (t + 2) with t = e^2|x| - 1, and the sign of x. NaN kept, exactly 1 from 10 on.
/// Relative error 2.8e-7 over all floats; 2.9 ns a vector on Zen 3 (AVX2).
ATTN_FN Lane tanh(Lane x) {
  const Lane bounded = min(10.0f, abs(x));
  const Lane rounded = multiply_add(bounded, 2.0f * detail::kLog2E, detail::kRoundToExponent);
  const Lane n = rounded - detail::kRoundToExponent;
  const Lane f = detail::about_minus_ln2(bounded, n, 0.5f);
  const Lane power = detail::power_of_two(rounded);
  const Lane t = multiply_add(detail::exp_slope(f, 2.0f) * f, power, power - 1.0f);
  return Lane(simd::CopySignToAbs((t / (t + 2.0f)).raw, x.raw));
}

/// 1 / (1 + e^-x), NaN kept: exactly 0 at -inf and below -88.72, exactly 1 at +inf. Relative
/// error 1.8e-7 down to -87.
ATTN_FN Lane sigmoid(Lane x) {
  return 1.0f / (1.0f + exp(-x));
}

/// The error function to 1.5e-7, absolutely: Abramowitz and Stegun, 1964, formula 7.1.26.
ATTN_FN Lane erf(Lane x) {
  const Lane far = abs(x);
  const Lane t = 1.0f / multiply_add(far, 0.3275911f, 1.0f);
  const Lane tail = t * detail::polynomial(t, 0.254829592f, -0.284496736f, 1.421413741f,
                                           -1.453152027f, 1.061405429f);
  const Lane result = negative_multiply_add(tail, exp_nonpositive(-(far * far)), 1.0f);
  return Lane(simd::CopySignToAbs(result.raw, x.raw));
}

/// ln x: -inf at 0, NaN below, +inf at +inf, subnormals too. Relative error 1.2e-7. With these
/// cases it is no faster than Highway's.
ATTN_FN Lane log(Lane x) {
  const Lane smallest = 0x1p-126f;
  const LaneMask subnormal = x < smallest;
  const Lane normal = select(subnormal, x * 0x1p23f, x);
  // m in [2/3, 4/3) with x = 2^e * m: the exponent is counted from 2/3.
  constexpr int kTwoThirds = 0x3f2aaaab;
  const auto counted = LaneIndex(simd::BitCast(IntTag(), normal.raw)) - kTwoThirds;
  const LaneIndex exponent = counted >> 23;
  const auto mantissa = (counted & 0x007fffff) + kTwoThirds;
  const Lane f = Lane(simd::BitCast(FloatTag(), mantissa.raw)) - 1.0f;
  const Lane e = real<Lane>(exponent) - select(subnormal, Lane(23.0f), Lane(0.0f));
  // ln(1 + f) = f + f^2 * q(f); Remez fit of the relative error: 2.6e-8.
  const Lane q =
      detail::polynomial(f, -0.4999993608f, 0.3333319814f, -0.2500781882f, 0.2001116847f,
                         -0.1641596215f, 0.1399581019f, -0.1538853268f, 0.1402634332f);
  const Lane tail = multiply_add(e, detail::kLn2Low, q * (f * f));
  const Lane result = multiply_add(e, detail::kLn2High, tail + f);
  const Lane special =
      select(x == Lane(0.0f), Lane(-kInfinity), select(x < 0.0f, Lane(__builtin_nanf("")), x));
  return select((x > 0.0f) & (x < kInfinity), result, special);
}

/// 1 / x for 2^-126 <= |x| <= 2^125, nothing else: an estimate and Newton's step. Relative
/// error 2.3e-7 (AVX2 1.6e-7, AVX-512 6.1e-8).
ATTN_FN Lane reciprocal(Lane x) {
  const Lane estimate(simd::ApproximateReciprocal(x.raw));
  const Lane once = detail::newton(x, estimate);
  // NEON's estimate has 8 bits, the others' 12 or more.
  if constexpr (HWY_ARCH_ARM) return detail::newton(x, once);
  return once;
}

}  // namespace attn::cpu::inline ATTN_TARGET
