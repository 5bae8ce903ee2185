// SPDX-License-Identifier: Apache-2.0

#include "attn/tasks/transcribe/word_errors.hpp"

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/text/metrics/edit_distance.hpp"

namespace attn::tasks {
namespace {

/// A straight apostrophe, or the typographic one.
constexpr std::string_view kApostrophe = "\xE2\x80\x99";

}  // namespace

std::vector<std::string> spoken_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (word.find_first_not_of('\'') != std::string::npos) words.push_back(word);
    word.clear();
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (text.substr(at).starts_with(kApostrophe)) {
      word += '\'';
      at += kApostrophe.size() - 1;
    } else if (byte == '\'' || byte >= 0x80 || std::isalnum(byte) != 0) {
      word += static_cast<char>(std::tolower(byte));
    } else if (byte == '-' || std::isspace(byte) != 0) {
      end_word();
    }
  }
  end_word();
  return words;
}

double WordErrors::rate() const {
  if (words == 0) return edits == 0 ? 0.0 : 100.0;
  return 100.0 * static_cast<double>(edits) / static_cast<double>(words);
}

void WordErrors::add(std::string_view reference, std::string_view transcript) {
  const std::vector<std::string> wanted = spoken_words(reference);
  const std::vector<std::string> seen = spoken_words(transcript);
  const std::vector<std::string_view> a(wanted.begin(), wanted.end());
  const std::vector<std::string_view> b(seen.begin(), seen.end());
  edits += text::edit_distance(a, b);
  words += static_cast<std::int64_t>(a.size());
}

}  // namespace attn::tasks
