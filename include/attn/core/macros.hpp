/// The few macros of the library.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

/// Marks a function of a functor: one source for scalars, SIMD lanes and CUDA. It is always
/// inlined, so that code built for one instruction set never leaks into another as a weak
/// symbol.
#if defined(__CUDACC__)
#  define ATTN_FN __host__ __device__ __forceinline__
#else
#  define ATTN_FN inline __attribute__((always_inline))
#endif

/// An invariant of ours, checked in debug builds only; misuse by a caller throws attn::Error.
#if defined(ATTN_DEBUG)
#  define ATTN_ASSERT(condition) ((condition) ? void(0) : __builtin_trap())
#else
#  define ATTN_ASSERT(condition) void(0)
#endif

/// Marks a lambda inside a kernel that must be inlined, for the same reason.
#if defined(__CUDACC__)
#  define ATTN_LAMBDA
#else
#  define ATTN_LAMBDA __attribute__((always_inline))
#endif
