/// From run time to compile time: head sizes, and what the kernels of the GPU do not take.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <limits>
#include <type_traits>

#include "attn/core/error.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/limits.hpp"

namespace attn::gpu {

/// The built head size for these channels; throws Unsupported beyond the last.
inline int padded_head_size(const char* where, std::int64_t channels,
                            std::int64_t value_channels) {
  const std::int64_t wanted = channels > value_channels ? channels : value_channels;
  for (const int size : kHeadSizes)
    if (wanted <= size) return size;
  fail<Unsupported>(where, ": ", channels, " channels and ", value_channels,
                    " value channels; the GPU's kernels are built up to 256");
}

/// run(std::integral_constant<int, size>{}) for the padded head size.
template <class F>
void for_head_size(const char* where, std::int64_t channels, std::int64_t value_channels,
                   const F& run) {
  switch (padded_head_size(where, channels, value_channels)) {
    case 32:
      return run(std::integral_constant<int, 32>{});
    case 64:
      return run(std::integral_constant<int, 64>{});
    case 96:
      return run(std::integral_constant<int, 96>{});
    case 128:
      return run(std::integral_constant<int, 128>{});
    case 192:
      return run(std::integral_constant<int, 192>{});
    default:
      return run(std::integral_constant<int, 256>{});
  }
}

inline void check_grid(const char* where, std::int64_t blocks) {
  if (blocks > std::numeric_limits<std::int32_t>::max())
    fail<Unsupported>(where, ": ", blocks, " blocks; a launch takes at most 2^31 - 1");
}

template <class T>
void check_supported(const ForwardArgs<T>& args) {
  constexpr const char* kWhere = "attn::gpu::forward";
  if (args.packing.q != nullptr || args.packing.k != nullptr)
    fail<Unsupported>(kWhere,
                      ": packed sequences are not built for the GPU; "
                      "mask::Documents serves them in one sequence");
  if (args.paging.table != nullptr)
    fail<Unsupported>(kWhere, ": paged keys are not built for the GPU's forward");
  if (args.similarities.data != nullptr)
    fail<Unsupported>(kWhere, ": the GPU's kernels do not keep similarities");
}

template <class T>
void check_supported(const BackwardArgs<T>& args) {
  constexpr const char* kWhere = "attn::gpu::backward";
  if (args.packing.q != nullptr || args.packing.k != nullptr)
    fail<Unsupported>(kWhere,
                      ": packed sequences are not built for the GPU; "
                      "mask::Documents serves them in one sequence");
  if (args.d_weights.given())
    fail<Unsupported>(kWhere, ": gradients of the weights are not built for the GPU");
}

}  // namespace attn::gpu
