/// Element types: what a buffer may hold, and the two 16-bit floats C++20 lacks.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn {

enum class DType { f64, f32, bf16, f16, i64, i32, i16, i8, u8, boolean };

/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::i64:
      return 8;
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::bf16:
    case DType::f16:
    case DType::i16:
      return 2;
    case DType::i8:
    case DType::u8:
    case DType::boolean:
      return 1;
  }
  return 0;
}

constexpr std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "f64";
    case DType::f32:
      return "f32";
    case DType::bf16:
      return "bf16";
    case DType::f16:
      return "f16";
    case DType::i64:
      return "i64";
    case DType::i32:
      return "i32";
    case DType::i16:
      return "i16";
    case DType::i8:
      return "i8";
    case DType::u8:
      return "u8";
    case DType::boolean:
      return "boolean";
  }
  return "unknown";
}

/// The upper half of a float; rounds to nearest even, keeps NaN.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit constexpr BFloat16(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const bool nan = (word & 0x7fffffffu) > 0x7f800000u;
    const std::uint32_t rounded = word + 0x7fffu + ((word >> 16) & 1u);
    bits = static_cast<std::uint16_t>(nan ? (word >> 16) | 0x40u : rounded >> 16);
  }
  explicit constexpr operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

/// IEEE binary16; rounds to nearest even, keeps infinities, NaN and subnormals.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  explicit constexpr Float16(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((word >> 16) & 0x8000u);
    const std::uint32_t magnitude = word & 0x7fffffffu;
    std::uint32_t half = 0;
    if (magnitude > 0x7f800000u) {
      half = 0x7e00u;
    } else if (magnitude >= 0x477ff000u) {
      half = 0x7c00u;  // 65520 and above round to infinity
    } else if (magnitude < 0x38800000u) {
      // Below 2^-14: adding 0.5 lines the subnormal's bits up at the bottom and rounds them.
      const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
      half = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f);
    } else {
      half = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
    }
    bits = static_cast<std::uint16_t>(sign | half);
  }
  explicit constexpr operator float() const {
    const std::uint32_t sign = (bits & 0x8000u) << 16;
    const std::uint32_t magnitude = bits & 0x7fffu;
    std::uint32_t word = 0;
    if (magnitude >= 0x7c00u) {
      word = 0x7f800000u | (magnitude & 0x3ffu) << 13;
    } else if (magnitude >= 0x400u) {
      word = (magnitude << 13) + 0x38000000u;
    } else {
      constexpr float kSmallest = 5.9604644775390625e-8f;  // 2^-24, the unit of subnormals
      word = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * kSmallest);
    }
    return std::bit_cast<float>(sign | word);
  }
};

/// The DType of a C++ type.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::bf16;
};
template <>
struct DTypeOf<Float16> {
  static constexpr DType value = DType::f16;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType value = DType::i16;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::i8;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::u8;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::boolean;
};

template <class T>
inline constexpr DType kDType = DTypeOf<T>::value;

}  // namespace attn
