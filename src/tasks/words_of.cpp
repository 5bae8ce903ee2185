#include "tasks/words_of.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/text/unicode.hpp"

namespace attn::tasks {
namespace {

enum class Kind { other, letter, digit, apostrophe };

/// Characters outside ASCII are letters, but for the marks of Latin-1 and general punctuation.
Kind kind_of(char32_t c) {
  if (c >= U'0' && c <= U'9') return Kind::digit;
  if (c == U'\'' || c == U'\u2019') return Kind::apostrophe;
  const bool mark = c < 0xC0 || c == 0xD7 || c == 0xF7 || (c >= 0x2000 && c <= 0x206F);
  const bool small = c >= U'a' && c <= U'z';
  return small || !(mark || text::is_space(c)) ? Kind::letter : Kind::other;
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::u32string word;
  Kind before = Kind::other;
  const auto end = [&] {
    while (!word.empty() && word.back() == U'\'') word.pop_back();
    if (!word.empty()) words.push_back(text::to_utf8(std::exchange(word, {})));
  };
  for (const char32_t c : text::code_points(text::lower(text::normalise(text)))) {
    const Kind kind = kind_of(c);
    const bool inside = before == Kind::letter || before == Kind::apostrophe;
    if (kind == Kind::letter) {
      if (!inside) end();
      word += c;
    } else if (kind == Kind::apostrophe && before == Kind::letter) {
      word += U'\'';
    } else {
      end();
      if (kind == Kind::digit && before != Kind::digit) words.emplace_back("0");
    }
    before = kind;
  }
  end();
  return words;
}

}  // namespace attn::tasks
