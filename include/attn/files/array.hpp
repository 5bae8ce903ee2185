/// Arrays as files hold them: an element type, a shape, and bytes in C order.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"

namespace attn::files {

/// More dimensions than this are refused; NumPy 2 has the same limit.
inline constexpr std::size_t kMaxRank = 64;

/// An array whose bytes belong to somebody else: little endian, packed, last dimension fastest.
struct ArrayView {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

/// Bytes of a packed array; nothing for a negative dimension, or when the non-zero dimensions
/// alone go past 2^63 - 1 bytes (strides could not be formed then, even if another is zero).
std::optional<std::uint64_t> byte_count(std::span<const std::int64_t> shape, DType dtype);

/// "[2, 3]".
std::string shape_text(std::span<const std::int64_t> shape);

/// InvalidArgument unless the array can be written: its shape fits its bytes, booleans are 0
/// or 1.
void validate(const ArrayView& array, const std::string& where);

/// FileError unless every boolean is 0 or 1; other elements may hold any bits.
void check_elements(DType dtype, std::span<const std::byte> bytes, const std::string& where);

/// FileError unless an array of dtype `seen` may be read as `wanted`.
void check_dtype(DType wanted, DType seen, const std::string& where);

/// FileError unless `data` is a multiple of `alignment`.
void check_alignment(const std::byte* data, std::size_t alignment, const std::string& where);

/// The elements, copied; the bytes need no alignment.
template <class T>
std::vector<T> copy_as(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if constexpr (std::is_same_v<T, bool>) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = bytes[i] != std::byte{0};
  } else if (!values.empty()) {
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  }
  return values;
}

/// The elements in place.
template <class T>
std::span<const T> view_as(std::span<const std::byte> bytes, const std::string& where) {
  check_alignment(bytes.data(), alignof(T), where);
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

/// Names values that stay where they are, for writing. A temporary vector does not compile.
template <std::ranges::contiguous_range R>
  requires std::ranges::borrowed_range<R>
ArrayView array_view(std::string name, std::vector<std::int64_t> shape, R&& values) {
  using T = std::remove_cv_t<std::ranges::range_value_t<R>>;
  return {std::move(name), kDType<T>, std::move(shape),
          std::as_bytes(std::span(std::ranges::data(values), std::ranges::size(values)))};
}

}  // namespace attn::files
