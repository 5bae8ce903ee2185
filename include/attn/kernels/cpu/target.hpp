/// The instruction set this object is compiled for: its namespace, its lane count, and a check
/// that Highway sees the same one.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <hwy/highway.h>

#include <cstdint>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

// attn_kernel_sources names the set; a file compiled by hand takes what its own flags give.
// Code of the lane layer opens `namespace attn::cpu::inline ATTN_TARGET`.
#if !defined(ATTN_TARGET)
#  define ATTN_TARGET native
#endif

#if defined(ATTN_TARGET_AVX512)
static_assert(HWY_STATIC_TARGET == HWY_AVX3,
              "Highway does not see AVX-512: compile with -march=x86-64-v4 -maes -mpclmul");
#elif defined(ATTN_TARGET_AVX2)
static_assert(HWY_STATIC_TARGET == HWY_AVX2,
              "Highway does not see AVX2: compile with -march=x86-64-v3 -maes -mpclmul");
#elif defined(ATTN_TARGET_SSE4)
static_assert(HWY_STATIC_TARGET == HWY_SSE4,
              "Highway does not see SSE4: compile with -march=x86-64-v2 -maes -mpclmul");
#elif defined(ATTN_TARGET_NEON)
static_assert(HWY_STATIC_TARGET == HWY_NEON,
              "Highway does not see NEON with AES: compile with -march=armv8-a+crypto");
#endif

static_assert(
    HWY_TARGET == HWY_STATIC_TARGET,
    "lanes are compiled once for each object, never through Highway's foreach_target");
static_assert(!HWY_HAVE_SCALABLE, "lanes need vectors of a size known to the compiler: no SVE");

namespace attn::cpu::inline ATTN_TARGET {

/// Highway's operations for this instruction set.
namespace simd = ::hwy::HWY_NAMESPACE;

using FloatTag = simd::ScalableTag<float>;
using IntTag = simd::ScalableTag<int>;
using WordTag = simd::ScalableTag<unsigned>;
/// As many 16-bit elements as there are float lanes.
using HalfTag = simd::Rebind<std::uint16_t, FloatTag>;

/// Floats in one vector.
inline constexpr int kLanes = static_cast<int>(simd::MaxLanes(FloatTag()));
static_assert(kLanes <= 32, "a mask's bits must fit one unsigned");

/// Whether a * b + c is rounded once.
inline constexpr bool kFusedMultiplyAdd = HWY_NATIVE_FMA != 0;

/// Whether a masked load or store leaves alone the memory of the lanes that are off.
inline constexpr bool kMaskedMemory = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2;

}  // namespace attn::cpu::inline ATTN_TARGET
