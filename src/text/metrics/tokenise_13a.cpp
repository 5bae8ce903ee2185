// mteval-v13a's tokens, the rules that most published BLEU scores rest on. Each rule reads the
// text once from left to right, as a regular expression would. Bytes serve for characters:
// the rules only name ASCII, and no byte of a longer character is ASCII.
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attn/text/metrics/bleu.hpp"
#include "attn/text/unicode.hpp"

namespace attn::text {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_stop(char c) {
  return c == '.' || c == ',';
}

/// Signs that always stand alone: ASCII punctuation but for ' , - . and the digits' friends.
bool stands_alone(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string out;
  while (true) {
    const std::size_t at = text.find(what);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += by;
    text.remove_prefix(at + what.size());
  }
}

/// Puts `before`, `between` and `behind` around each neighbouring pair that `first` and
/// `second` accept. A character belongs to one pair only.
template <class First, class Second>
std::string around_pairs(std::string_view text, First first, Second second,
                         std::string_view before, std::string_view between,
                         std::string_view behind) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !first(text[i]) || !second(text[i + 1])) {
      out += text[i];
      continue;
    }
    out += before;
    out += text[i];
    out += between;
    out += text[++i];
    out += behind;
  }
  return out;
}

std::string plain(std::string_view text) {
  std::string out = replaced(text, "<skipped>", "");
  out = replaced(out, "-\n", "");
  out = replaced(out, "\n", " ");
  out = replaced(out, "&quot;", "\"");
  out = replaced(out, "&amp;", "&");
  out = replaced(out, "&lt;", "<");
  return replaced(out, "&gt;", ">");
}

std::string without_space_behind(std::string_view text) {
  const auto words = split_words(text);
  if (words.empty()) return "";
  return std::string(text.substr(
      0, static_cast<std::size_t>(words.back().data() + words.back().size() - text.data())));
}

}  // namespace

std::vector<std::string> tokenise_13a(std::string_view text) {
  std::string line = " ";
  for (const char c : plain(without_space_behind(text))) {
    if (stands_alone(c)) {
      line += ' ';
      line += c;
      line += ' ';
    } else {
      line += c;
    }
  }
  line += ' ';
  const auto no_digit = [](char c) { return !is_digit(c); };
  line = around_pairs(line, no_digit, is_stop, "", " ", " ");
  line = around_pairs(line, is_stop, no_digit, " ", " ", "");
  line = around_pairs(line, is_digit, [](char c) { return c == '-'; }, "", " ", " ");
  const auto words = split_words(line);
  return {words.begin(), words.end()};
}

}  // namespace attn::text
