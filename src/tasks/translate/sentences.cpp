#include "tasks/translate/sentences.hpp"

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"

namespace attn::tasks {
namespace {

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

/// Whether the stop at `at` belongs to "e.g.", "i.e." or an initial: one letter before it.
bool abbreviates(std::string_view text, std::size_t at) {
  if (text[at] != '.' || at == 0 || !is_letter(text[at - 1])) return false;
  return at == 1 || text[at - 2] == ' ' || text[at - 2] == '.' || text[at - 2] == '(';
}

bool ends_sentence(std::string_view text, std::size_t at) {
  if (text[at] != '.' && text[at] != '!' && text[at] != '?') return false;
  if (at + 2 >= text.size() || text[at + 1] != ' ') return false;
  return std::islower(static_cast<unsigned char>(text[at + 2])) == 0 && !abbreviates(text, at);
}

/// Appends the text in parts of at most `most` tokens: halves, until they are short enough.
void append(const text::Tokeniser& tokeniser, std::int64_t most, std::string_view text,
            std::vector<std::string>& parts) {
  // A token is at least a byte, so short texts need not be tokenised twice.
  const auto length = static_cast<std::int64_t>(text.size());
  if (length <= most || (length <= 64 * most &&
                         static_cast<std::int64_t>(tokeniser.encode(text).size()) <= most)) {
    if (!text.empty()) parts.emplace_back(text);
    return;
  }
  std::size_t middle = text.rfind(' ', text.size() / 2);
  if (middle == std::string_view::npos || middle == 0) middle = text.find(' ');
  if (middle == std::string_view::npos || middle == 0 || middle + 1 >= text.size()) {
    middle = text.size() / 2;
    // Not inside a character.
    while (middle > 0 && (static_cast<unsigned char>(text[middle]) & 0xC0) == 0x80) --middle;
    if (middle == 0) {
      parts.emplace_back(text);
      return;
    }
    append(tokeniser, most, text.substr(0, middle), parts);
    append(tokeniser, most, text.substr(middle), parts);
    return;
  }
  append(tokeniser, most, text.substr(0, middle), parts);
  append(tokeniser, most, text.substr(middle + 1), parts);
}

}  // namespace

std::vector<std::string> sentences(std::string_view text) {
  std::vector<std::string> found;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!ends_sentence(text, at)) continue;
    found.emplace_back(text.substr(begin, at + 1 - begin));
    begin = at + 2;
  }
  if (begin < text.size()) found.emplace_back(text.substr(begin));
  return found;
}

std::vector<std::string> split_for(const text::Tokeniser& tokeniser, std::int64_t most,
                                   std::string_view text) {
  std::vector<std::string> parts;
  for (const std::string& sentence : sentences(text::normalise(text)))
    append(tokeniser, most, sentence, parts);
  if (parts.empty()) parts.emplace_back();
  return parts;
}

}  // namespace attn::tasks
