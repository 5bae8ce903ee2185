#include "tools/attn/wrap.hpp"

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace attn::tools {
namespace {

/// Characters of UTF-8, continuation bytes not counted.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

}  // namespace

std::string wrap(std::string_view text, std::string_view first, std::string_view margin,
                 std::size_t columns) {
  std::string result;
  std::string line(first);
  bool empty = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!empty && width(line) + 1 + width(word) > columns) {
      result += line + '\n';
      line = margin;
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  return result + line;
}

}  // namespace attn::tools
