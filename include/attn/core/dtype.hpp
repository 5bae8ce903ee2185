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
  constexpr std::size_t kSizes[] = {8, 4, 2, 2, 8, 4, 2, 1, 1, 1};
  return kSizes[static_cast<std::size_t>(dtype)];
}

constexpr std::string_view name_of(DType dtype) {
  constexpr std::string_view kNames[] = {"f64", "f32", "bf16", "f16", "i64",
                                         "i32", "i16", "i8",   "u8",  "boolean"};
  return kNames[static_cast<std::size_t>(dtype)];
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
extern const DType kDType;
template <>
inline constexpr DType kDType<double> = DType::f64;
template <>
inline constexpr DType kDType<float> = DType::f32;
template <>
inline constexpr DType kDType<BFloat16> = DType::bf16;
template <>
inline constexpr DType kDType<Float16> = DType::f16;
template <>
inline constexpr DType kDType<std::int64_t> = DType::i64;
template <>
inline constexpr DType kDType<std::int32_t> = DType::i32;
template <>
inline constexpr DType kDType<std::int16_t> = DType::i16;
template <>
inline constexpr DType kDType<std::int8_t> = DType::i8;
template <>
inline constexpr DType kDType<std::uint8_t> = DType::u8;
template <>
inline constexpr DType kDType<bool> = DType::boolean;

}  // namespace attn
