/// Faults: numbers in the GPU's memory that should not be there, such as an id outside of its
/// table. Kernels report the first one; the next synchronise() throws it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

namespace attn::gpu {

/// Where a kernel may report, in memory that the CPU sees. The texts are addresses of the CPU,
/// which the GPU only passes on.
struct Fault {
  unsigned int taken;
  const char* where;
  const char* what;
  std::int64_t number;
  std::int64_t extent;
};

/// The numbers of one op that must lie in [0, extent).
struct Bounds {
  Fault* fault;
  const char* where;  ///< "attn::embedding"
  const char* what;   ///< "id"
  std::int64_t extent;

  /// Whether the number exists; reports it otherwise.
  __device__ bool admits(std::int64_t number) const {
    if (number >= 0 && number < extent) return true;
    if (atomicCAS_system(&fault->taken, 0u, 1u) == 0u) {
      fault->where = where;
      fault->what = what;
      fault->number = number;
      fault->extent = extent;
      __threadfence_system();
    }
    return false;
  }
};

/// For this thread's stream.
Bounds bounds(const char* where, const char* what, std::int64_t extent);

}  // namespace attn::gpu
