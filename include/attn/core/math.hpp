/// Scalar mathematics under one set of names, which SIMD lanes and dual numbers overload.
/// A functor calls exp, tanh, select, ... unqualified and serves them all.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include "attn/core/macros.hpp"

namespace attn {

#if defined(__CUDACC__)
/// 2^x to 2^-22, 0 for -inf: the GPU's own instruction.
__device__ __forceinline__ float attn_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#endif

// clang-format off
template <std::floating_point T> ATTN_FN T exp(T x) { return std::exp(x); }
template <std::floating_point T> ATTN_FN T log(T x) { return std::log(x); }
template <std::floating_point T> ATTN_FN T erf(T x) { return std::erf(x); }
template <std::floating_point T> ATTN_FN T sqrt(T x) { return std::sqrt(x); }
template <std::floating_point T> ATTN_FN T abs(T x) { return std::fabs(x); }
template <std::floating_point T> ATTN_FN T floor(T x) { return std::floor(x); }
template <std::floating_point T> ATTN_FN T sigmoid(T x) { return T(1) / (T(1) + std::exp(-x)); }
// clang-format on

template <std::floating_point T>
ATTN_FN T tanh(T x) {
#if defined(__CUDA_ARCH__)
  // Two special-function instructions instead of a branch; off by 1e-7 at most.
  if constexpr (std::same_as<T, float>)
    return 1.0f - __fdividef(2.0f, 1.0f + attn_exp2(x * 2.885390081777927f));
#endif
  return std::tanh(x);
}

template <class T>
  requires std::is_arithmetic_v<T>
ATTN_FN T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
  requires std::is_arithmetic_v<T>
ATTN_FN T max(T a, T b) {
  return a < b ? b : a;
}
ATTN_FN int abs(int x) {
  return x < 0 ? -x : x;
}

/// e^(s - top) for s <= top, exactly 0 where s is -inf: the weight of a score under a maximum.
template <std::floating_point T>
ATTN_FN T exp_below(T s, T top) {
#if defined(__CUDA_ARCH__)
  // One fused multiply-add and one special-function instruction a score: the product with top
  // serves a whole row, and 2^-inf is 0.
  if constexpr (std::same_as<T, float>) {
    constexpr float kLog2E = 1.4426950408889634f;
    const float shift = top == -std::numeric_limits<float>::infinity() ? 0.0f : -top * kLog2E;
    return attn_exp2(__fmaf_rn(s, kLog2E, shift));
  }
#endif
  return s == -std::numeric_limits<T>::infinity() ? T(0) : std::exp(s - top);
}

/// a where the condition holds, else b. Never mixes them, so a NaN on the other side is lost.
template <class T>
  requires std::is_arithmetic_v<T>
ATTN_FN T select(bool condition, T a, T b) {
  return condition ? a : b;
}
template <std::floating_point T>
  requires(!std::same_as<T, float>)
ATTN_FN T select(bool condition, T a, float b) {
  return condition ? a : static_cast<T>(b);
}

/// A whole number as the functor's number type: real<V>(at.k - at.q).
template <class V>
  requires std::floating_point<V>
ATTN_FN V real(int index) {
  return static_cast<V>(index);
}

/// Whether bit or byte tables keep an entry: row[index * stride] != 0.
ATTN_FN bool load_flag(const unsigned char* row, long stride, int index) {
  return row[static_cast<long>(index) * stride] != 0;
}
/// row[index * stride] of a table of whole numbers.
ATTN_FN int load_int(const int* row, long stride, int index) {
  return row[static_cast<long>(index) * stride];
}

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace attn
