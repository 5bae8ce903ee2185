#include "tasks/debian/description.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/debian/index.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks {
namespace {

constexpr std::array<std::string_view, 7> kBullets{"* ", "- ", "+ ", "o ", "• ", "– ", "· "};

/// Behind these a full stop ends no sentence, in the languages that are read here.
constexpr std::array<std::string_view, 30> kAbbreviations{
    "e.g", "i.e",  "etc", "vs",   "cf",   "dr",     "mr",  "mrs",   "st",   "no",
    "nr",  "inc",  "ltd", "fig",  "ca",   "approx", "ecc", "es",    "ad",   "bzw",
    "usw", "evtl", "ggf", "p.ej", "p.es", "ej",     "osv", "f.eks", "bl.a", "dvs"};

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool has_bullet(std::string_view text) {
  return std::any_of(kBullets.begin(), kBullets.end(),
                     [&](std::string_view bullet) { return text.starts_with(bullet); });
}

/// A letter of any script counts as a capital unless it is a small one of ASCII: what is beyond
/// ASCII and begins a word here is mostly "È" or "À".
bool may_begin(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isupper(byte) != 0 || std::isdigit(byte) != 0 || c == '"' || c == '(' ||
         byte >= 0x80;
}

bool ends_sentence(std::string_view before) {
  const char mark = before.back();
  if (mark == '!' || mark == '?') return true;
  if (mark != '.') return false;
  std::string_view word = before.substr(0, before.size() - 1);
  word.remove_prefix(word.find_last_of(' ') + 1);  // npos + 1 is 0
  while (!word.empty() && (word.front() == '(' || word.front() == '"')) word.remove_prefix(1);
  if (word.size() == 1 && std::isalpha(static_cast<unsigned char>(word[0])) != 0) return false;
  std::string lower;
  for (const char c : word)
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  // "A.D", "U.S": letters with stops between them.
  if (lower.size() == 3 && lower[1] == '.') return false;
  return std::find(kAbbreviations.begin(), kAbbreviations.end(), lower) == kAbbreviations.end();
}

}  // namespace

bool is_boilerplate(const Description& description) {
  const std::string_view package = description.package;
  const auto says = [&](std::string_view word) {
    return description.synopsis.find(word) != std::string_view::npos;
  };
  return package.starts_with("librust-") ||
         (package.starts_with("libghc-") && package.ends_with("-prof")) ||
         says("ransitional") || says("ummy package");
}

std::string_view without_bullet(std::string_view unit) {
  for (const std::string_view bullet : kBullets)
    if (unit.starts_with(bullet)) return unit.substr(bullet.size());
  return unit;
}

std::vector<Paragraph> paragraphs_of(std::string_view body) {
  std::vector<Paragraph> paragraphs(1);
  enum class Open { nothing, text, item } open = Open::nothing;
  while (!body.empty()) {
    std::string_view line = take_line(body);
    if (!line.empty()) line.remove_prefix(1);  // the space that continues the field
    const std::string words = one_line(line);
    if (words.empty() || words == ".") {
      if (!paragraphs.back().empty()) paragraphs.emplace_back();
      open = Open::nothing;
      continue;
    }
    const bool indented = is_space(line.front());
    Paragraph& units = paragraphs.back();
    // A hyphen or "o" at the left edge may be the prose's own; there only "* " is a bullet.
    const bool item = indented ? has_bullet(words) : words.starts_with("* ");
    const bool goes_on = !item && (indented ? open == Open::item : open == Open::text);
    if (goes_on) {
      units.back() += " " + words;
    } else {
      units.push_back(words);
      open = item ? Open::item : indented ? Open::nothing : Open::text;
    }
  }
  if (paragraphs.back().empty()) paragraphs.pop_back();
  return paragraphs;
}

std::vector<std::string> sentences_of(std::string_view text) {
  std::vector<std::string> sentences;
  std::size_t begin = 0;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] != ' ' || !may_begin(text[i + 1])) continue;
    if (!ends_sentence(text.substr(begin, i - begin))) continue;
    sentences.emplace_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  if (begin < text.size()) sentences.emplace_back(text.substr(begin));
  return sentences;
}

std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_space(text[i])) continue;
    if (!line.empty() && is_space(text[i - 1])) line += ' ';
    line += text[i];
  }
  return line;
}

int word_count(std::string_view text) {
  int count = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    count += !is_space(text[i]) && (i == 0 || is_space(text[i - 1]));
  return count;
}

}  // namespace attn::tasks
