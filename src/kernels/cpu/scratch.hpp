/// Scratch: hands out pieces of one block of memory, or only counts them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>

#include "attn/core/macros.hpp"

namespace attn::cpu {

/// With a null base it counts: the same code that uses the memory tells how much is needed.
struct Scratch {
  std::byte* base = nullptr;
  std::size_t used = 0;

  template <class T>
  ATTN_FN T* take(std::int64_t count) {
    const std::size_t at = used;
    used += (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
    return base == nullptr ? nullptr : reinterpret_cast<T*>(base + at);
  }
};

}  // namespace attn::cpu
