/// View: a pointer with a shape and strides. It owns nothing.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "attn/core/macros.hpp"

namespace attn {

/// Element [i0, i1, ...] lives at data[i0 * strides[0] + i1 * strides[1] + ...]; strides count
/// elements, may be zero (broadcast) or negative.
template <class T, int kRank>
struct View {
  T* data = nullptr;
  std::array<std::int64_t, kRank> shape{};
  std::array<std::int64_t, kRank> strides{};

  constexpr std::int64_t size() const {
    std::int64_t product = 1;
    for (const auto extent : shape) product *= extent;
    return product;
  }

  /// The element at the given leading indices; missing trailing ones are zero.
  template <class... Index>
  ATTN_FN constexpr T* at(Index... index) const {
    static_assert(sizeof...(Index) <= kRank);
    std::ptrdiff_t offset = 0;
    int axis = 0;
    ((offset += static_cast<std::ptrdiff_t>(index) * strides[static_cast<std::size_t>(axis++)]),
     ...);
    return data + offset;
  }

  constexpr operator View<const T, kRank>() const  // NOLINT(google-explicit-constructor)
    requires(!std::is_const_v<T>)
  {
    return {data, shape, strides};
  }
};

/// Row-major strides of a shape.
template <std::size_t kRank>
constexpr std::array<std::int64_t, kRank> packed_strides(
    const std::array<std::int64_t, kRank>& shape) {
  std::array<std::int64_t, kRank> strides{};
  std::int64_t step = 1;
  for (std::size_t axis = kRank; axis-- > 0;) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

/// A row-major view, for example packed<const float>(q, batch, heads, queries, channels).
template <class T, class... Extents>
constexpr View<T, sizeof...(Extents)> packed(std::type_identity_t<T>* data,
                                             Extents... extents) {
  const std::array<std::int64_t, sizeof...(Extents)> shape{
      static_cast<std::int64_t>(extents)...};
  return {data, shape, packed_strides(shape)};
}

}  // namespace attn
