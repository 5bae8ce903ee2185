/// Additive scores, s = sum over c of w_c tanh(q_c + k_c): what forward and backward share.
///
/// tanh(q + k) = 1 - 2 r with r = 1 / (1 + e^2q e^2k), so the exponentials are taken once a row
/// instead of once a pair, and a pair costs a product and a quotient. Panels of keys hold e^2k.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/cpu/lane_math.hpp"

namespace attn::cpu::inline ATTN_TARGET {

/// Keys within this bound become exponentials; a key with any channel beyond it, infinite or
/// NaN stays as it is, and tanh is taken of the sums with it.
inline constexpr float kKeyLimit = 33.0f;
/// Queries are bounded to this before the exponential, which changes nothing: with |k| <=
/// kKeyLimit the sum is past 10, where tanh is 1 in fp32. e^86 and e^-86 are normal floats.
inline constexpr float kQueryLimit = 43.0f;
/// Up to this sum of |q| and |k| the product of two (1 + e^2(q+k)) stays below 2^125.
inline constexpr float kNarrowSum = 20.0f;

/// Rows of a panel: the channels, then the largest |k| of each key, infinite for keys that
/// stayed as they were.
ATTN_FN constexpr int additive_depth(int channels) {
  return channels + 1;
}

/// Turns a key into what a panel holds. The row is zero from `channels` to the end of the
/// vector that additive_depth() ends in.
[[gnu::noinline]] inline void prepare_additive_key(float* row, int channels) {
  Lane top(0.0f);
  LaneMask within(true);
  for (int c = 0; c < channels; c += kLanes) {
    const Lane size = abs(Lane::load(row + c));
    top = max(size, top);
    within = within & (size <= Lane(kKeyLimit));
  }
  if (!all(within)) {
    row[channels] = kInfinity;
    return;
  }
  for (int c = 0; c < channels; c += kLanes) exp(2.0f * Lane::load(row + c)).store(row + c);
  row[channels] = reduce_max(top);
}

/// The exponentials of a few queries and channels, and what goes with these channels.
template <int kQueries, int kChannels>
struct AdditiveQueries {
  static_assert(kChannels % kLanes == 0);
  alignas(64) float exps[kQueries][kChannels];
  float top;  ///< the largest |q|, at most kQueryLimit
  bool nan;

  /// Vectors are read past `channels`.
  ATTN_FN void read(int queries, int channels, const float* q, std::int64_t stride) {
    Lane largest(0.0f);
    LaneMask bad(false);
    for (int r = 0; r < queries; ++r)
      for (int c = 0; c < channels; c += kLanes) {
        const Lane x = Lane::load(q + r * stride + c);
        const Lane bounded = max(-kQueryLimit, min(kQueryLimit, x));
        largest = max(abs(bounded), largest);
        bad = bad | is_nan(x);
        exp(2.0f * bounded).store(exps[r] + c);
      }
    top = reduce_max(largest);
    nan = any(bad);
  }
};

/// Where division is the faster way to a quotient. Zen 3: a pair of channels takes 3.8 cycles a
/// vector with it (the divider alone 3.4), a fifth more with an estimate and Newton's step.
/// Where vectors have 512 bits, tables of instructions give the divider 10 cycles and more.
inline constexpr bool kDivides = HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4;

/// Whether |q| + |k| may exceed kNarrowSum; checked where there may be keys that are no
/// exponentials, or NaN.
enum class AdditiveRange { narrow, wide, checked };

/// 1 + e^2(q+k). Wide, it is bounded: 1 / 2^60 is as good as 0, a product of two bounds is a
/// float, and no quotient is subnormal.
template <AdditiveRange kRange>
ATTN_FN Lane additive_divisor(float exp_q, Lane exp_k) {
  const Lane d = multiply_add(exp_q, exp_k, 1.0f);
  return kRange == AdditiveRange::wide ? min(0x1p60f, d) : d;
}
ATTN_FN Lane additive_inverse(Lane d) {
  if constexpr (kDivides) return 1.0f / d;
  return reciprocal(d);
}

/// r for vectors that hold keys of both kinds; `raw` are those that stayed as they were.
ATTN_FN Lane additive_checked(float q, float exp_q, Lane k, LaneMask raw) {
  const Lane direct = 0.5f - 0.5f * tanh(q + k);
  if (all(raw)) return direct;
  return select(raw, direct, additive_inverse(additive_divisor<AdditiveRange::wide>(exp_q, k)));
}

}  // namespace attn::cpu::inline ATTN_TARGET
