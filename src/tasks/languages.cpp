#include "attn/tasks/languages.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "attn/files/printable.hpp"
#include "attn/text/unicode.hpp"

namespace attn::tasks {
namespace {

constexpr std::string_view kOpen = ">>";
constexpr std::string_view kClose = "<<";

/// The blocks of common Han characters: of everyday texts, no other is seen.
bool is_han(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF);
}

bool is_letter(char32_t c) {
  return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z') || (c >= 0xC0 && c < 0x2000);
}

}  // namespace

bool Languages::has(std::string_view target) const {
  return std::find(to.begin(), to.end(), target) != to.end();
}

Languages languages_of(std::string_view name) {
  Languages languages;
  if (const std::size_t dash = name.find('-'); dash != std::string_view::npos) {
    languages.from = name.substr(0, dash);
    name.remove_prefix(dash + 1);
  }
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('+'), name.size());
    languages.to.emplace_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return languages;
}

std::string mark_of(std::string_view language) {
  return std::string(kOpen) + std::string(language) + std::string(kClose) + " ";
}

std::string take_mark(std::string_view& text) {
  constexpr std::size_t kLongest = 3;
  if (!text.starts_with(kOpen)) return "";
  const std::size_t end = text.find(kClose);
  if (end == std::string_view::npos || end == kOpen.size() || end > kOpen.size() + kLongest)
    return "";
  const std::string language(text.substr(kOpen.size(), end - kOpen.size()));
  text.remove_prefix(end + kClose.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return language;
}

bool is_chinese(std::string_view text) {
  if (!files::is_utf8(text)) return false;
  std::size_t han = 0;
  std::size_t others = 0;
  for (const char32_t c : text::code_points(text)) {
    han += is_han(c) ? 1 : 0;
    others += is_letter(c) ? 1 : 0;
  }
  // A Chinese word takes two characters, a European one five.
  return han > 0 && 2 * han >= others;
}

}  // namespace attn::tasks
