/// What the checks of all kernels share.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "attn/core/error.hpp"
#include "attn/core/view.hpp"

namespace attn {

/// Positions are 32-bit inside the kernels, with room to add offsets.
inline constexpr std::int64_t kMaxExtent = std::int64_t{1} << 30;

/// "[2, 3]".
template <std::size_t kRank>
std::string extents_text(const std::array<std::int64_t, kRank>& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < kRank; ++axis)
    text += (axis == 0 ? "" : ", ") + std::to_string(shape[axis]);
  return text + "]";
}

/// Extents are not negative, their product fits, and there are data where there are elements.
template <class T, int kRank>
void check_extents(const char* where, const char* name, const View<T, kRank>& view) {
  std::int64_t size = 1;
  for (const std::int64_t extent : view.shape) {
    if (extent < 0 || extent > kMaxExtent)
      fail(where, ": ", name, " has shape ", extents_text(view.shape),
           "; extents must lie in 0..", kMaxExtent);
    if (extent != 0 && size > std::numeric_limits<std::int64_t>::max() / 16 / extent)
      fail(where, ": ", name, " has shape ", extents_text(view.shape),
           ", more elements than memory can hold");
    size *= extent;
  }
  if (size > 0 && view.data == nullptr)
    fail(where, ": ", name, " has shape ", extents_text(view.shape), " but no data");
}

template <std::size_t kRank>
void check_shape(const char* where, const char* name,
                 const std::array<std::int64_t, kRank>& shape,
                 const std::array<std::int64_t, kRank>& expected) {
  if (shape != expected)
    fail(where, ": ", name, " has shape ", extents_text(shape), "; expected ",
         extents_text(expected));
}

}  // namespace attn
