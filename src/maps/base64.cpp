// SPDX-License-Identifier: Apache-2.0

#include "attn/maps/base64.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::maps {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNone = 64;

constexpr std::array<std::uint8_t, 256> values_of_characters() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  return values;
}
constexpr auto kValues = values_of_characters();

}  // namespace

std::string to_base64(std::span<const std::uint8_t> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j) bits = bits << 8 | (j < count ? bytes[i + j] : 0u);
    for (std::size_t j = 0; j < 4; ++j)
      text += j <= count ? kAlphabet[bits >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::optional<std::vector<std::uint8_t>> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::vector<std::uint8_t> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::size_t count = 4;
    if (i + 4 == text.size())
      while (count > 2 && text[i + count - 1] == '=') --count;
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const std::uint8_t value =
          j < count ? kValues[static_cast<unsigned char>(text[i + j])] : std::uint8_t{0};
      if (value == kNone) return std::nullopt;
      bits = bits << 6 | value;
    }
    for (std::size_t j = 0; j + 1 < count; ++j)
      bytes.push_back(static_cast<std::uint8_t>(bits >> (16 - 8 * j)));
    if (count < 4 && (bits & (count == 3 ? 0xffu : 0xffffu)) != 0) return std::nullopt;
  }
  return bytes;
}

}  // namespace attn::maps
