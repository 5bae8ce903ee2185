// SPDX-License-Identifier: Apache-2.0

#include "attn/files/printable.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace attn::files {
namespace {

/// Bytes of the UTF-8 character that starts at `at`; 0 when it is malformed.
std::size_t character_size(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(at);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() - at < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  const std::uint8_t second = byte(at + 1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second >= 0xa0;
  const bool too_large = lead == 0xf4 && second >= 0x90;
  return overlong || surrogate || too_large ? 0 : size;
}

/// C0, DEL, and C1, which terminals act upon too.
bool is_control(std::string_view character) {
  const auto lead = static_cast<std::uint8_t>(character[0]);
  if (lead < 0x20 || lead == 0x7f) return true;
  return lead == 0xc2 && static_cast<std::uint8_t>(character[1]) < 0xa0;
}

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    out += "\\x";
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character_size(text, at);
    if (size == 0) return false;
    at += size;
  }
  return true;
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character_size(text, at);
    const std::string_view character = text.substr(at, size == 0 ? 1 : size);
    if (at + character.size() > max_bytes) return out + "...";
    if (size == 0 || is_control(character)) {
      append_escaped(out, character);
    } else {
      out += character;
    }
    at += character.size();
  }
  return out;
}

std::string in_quotes(std::string_view text, std::size_t max_bytes) {
  return '"' + printable(text, max_bytes) + '"';
}

std::string path_text(const std::filesystem::path& path) {
  constexpr std::size_t kLongestPath = 4096;  // PATH_MAX on Linux
  return in_quotes(path.native(), kLongestPath);
}

}  // namespace attn::files
