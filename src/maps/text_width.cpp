// SPDX-License-Identifier: Apache-2.0

#include "attn/maps/text_width.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attn::maps {
namespace {

constexpr utf8proc_int32_t kEmojiStyle = 0xfe0f;
constexpr utf8proc_int32_t kReplacement = 0xfffd;
constexpr std::string_view kEllipsis = "…";

struct CodePoint {
  utf8proc_int32_t value;
  std::size_t bytes;
};

/// The code point at the front; a byte that is no UTF-8 counts as one.
CodePoint front(std::string_view text) {
  utf8proc_int32_t value = 0;
  const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                      static_cast<utf8proc_ssize_t>(text.size()), &value);
  if (bytes <= 0) return {kReplacement, 1};
  return {value, static_cast<std::size_t>(bytes)};
}

std::size_t columns_of(utf8proc_int32_t value) {
  return static_cast<std::size_t>(std::max(0, utf8proc_charwidth(value)));
}

/// Embeddings, overrides and isolates would turn the rest of the line around.
bool is_direction_mark(utf8proc_int32_t value) {
  return value == 0x200e || value == 0x200f || value == 0x61c ||
         (value >= 0x202a && value <= 0x202e) || (value >= 0x2066 && value <= 0x2069);
}

bool breaks_line(utf8proc_int32_t value) {
  return value < 0x20 || (value >= 0x7f && value < 0xa0) || value == 0x2028 || value == 0x2029;
}

}  // namespace

std::vector<Grapheme> graphemes(std::string_view text) {
  std::vector<Grapheme> result;
  utf8proc_int32_t state = 0;
  utf8proc_int32_t before = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto [value, bytes] = front(text.substr(at));
    if (result.empty() || utf8proc_grapheme_break_stateful(before, value, &state)) {
      begin = at;
      result.push_back({text.substr(at, bytes), columns_of(value)});
    } else {
      Grapheme& last = result.back();
      last.text = text.substr(begin, at + bytes - begin);
      // Parts of one picture lie over each other; a style mark makes a symbol a wide picture.
      last.width = std::max(last.width, value == kEmojiStyle ? 2 : columns_of(value));
    }
    before = value;
    at += bytes;
  }
  return result;
}

std::string on_one_line(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto [value, bytes] = front(text.substr(at));
    if (breaks_line(value)) {
      result += ' ';
    } else if (value == kReplacement) {
      result += "\ufffd";
    } else if (!is_direction_mark(value)) {
      result += text.substr(at, bytes);
    }
    at += bytes;
  }
  return result;
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (const Grapheme& grapheme : graphemes(text)) width += grapheme.width;
  return width;
}

std::string cut_to(std::string_view text, std::size_t width) {
  const auto parts = graphemes(text);
  std::size_t all = 0;
  for (const Grapheme& part : parts) all += part.width;
  if (all <= width) return std::string(text);
  if (width == 0) return "";
  std::string result;
  std::size_t taken = 0;
  for (const Grapheme& part : parts) {
    if (taken + part.width > width - 1) break;
    taken += part.width;
    result += part.text;
  }
  return result += kEllipsis;
}

std::string shortened(std::string_view text, std::size_t count) {
  const auto parts = graphemes(text);
  if (parts.size() <= count) return std::string(text);
  if (count == 0) return "";
  std::string result;
  for (std::size_t i = 0; i + 1 < count; ++i) result += parts[i].text;
  return result += kEllipsis;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t taken = 0;
  const auto finish = [&] {
    while (line.ends_with(' ')) line.pop_back();
    lines.push_back(std::exchange(line, {}));
    taken = 0;
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    const auto parts = graphemes(word);
    std::size_t size = 0;
    for (const Grapheme& part : parts) size += part.width;
    if (taken > 0 && taken + size > width) finish();
    // A word longer than a line (and a script without spaces) is broken anywhere.
    for (const Grapheme& part : parts) {
      if (taken > 0 && taken + part.width > width) finish();
      line += part.text;
      taken += part.width;
    }
    if (taken > 0 && taken < width && end < text.size()) {
      line += ' ';
      ++taken;
    }
    begin = end + 1;
  }
  if (taken > 0) finish();
  return lines;
}

}  // namespace attn::maps
