/// Targets: the instruction sets the CPU kernels are built for, and which one a call takes.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <string_view>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn {

/// `native` is a file compiled outside attn_kernel_sources(), with the flags of its own target.
enum class Target { sse4, avx2, avx512, neon, native };

/// Targets with kernels of the library's own; `native` is not among them.
inline constexpr int kTargets = 4;

constexpr std::string_view name_of(Target target) {
  constexpr std::array<std::string_view, kTargets + 1> kNames{"sse4", "avx2", "avx512", "neon",
                                                              "native"};
  return kNames[static_cast<std::size_t>(target)];
}

namespace cpu {

/// The targets this build holds kernels for, best first.
#if defined(__aarch64__)
inline constexpr std::array<Target, 1> kBuiltTargets{Target::neon};
#else
inline constexpr std::array<Target, 3> kBuiltTargets{Target::avx512, Target::avx2,
                                                     Target::sse4};
#endif

/// Whether this build holds kernels for the target and this machine can run them.
bool available(Target target);

/// The best target of this machine; throws Unsupported on one that can run none.
Target best_target();

}  // namespace cpu
}  // namespace attn
