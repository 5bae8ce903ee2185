#include "tasks/answer/questions.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"

namespace attn::tasks::vqa {
namespace {

/// More different words than any data here has.
constexpr std::int64_t kMostKnown = 2000;

/// Other spellings and words of those in the data.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kSpellings{
    {{"colour", "color"},
     {"coloured", "colored"},
     {"grey", "gray"},
     {"picture", "image"},
     {"photo", "image"},
     {"square", "rectangle"},
     {"round", "circle"},
     {"isn", "not"},
     {"doesn", "not"},
     {"which", "what"},
     {"number", "digit"},
     {"exist", "present"}}};

/// What a question means as well without.
constexpr std::array<std::string_view, 16> kSmall{
    "it",   "its",    "a", "an", "the", "this", "that", "these",
    "here", "please", "s", "t",  "of",  "you",  "see",  "we"};

bool is_letter(char32_t c) {
  if (c < 0x80)
    return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z') || (c >= U'0' && c <= U'9');
  return c >= 0xC0 && !(c >= 0x2000 && c <= 0x206F) && !(c >= 0x3000 && c <= 0x303F) &&
         !text::is_space(c);
}

std::string spelt(std::string word) {
  for (const auto& [other, own] : kSpellings)
    if (word == other) return std::string(own);
  return word;
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::u32string word;
  for (const char32_t c : text::code_points(text::lower(text::nfkc(text))) + U" ") {
    if (is_letter(c)) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(spelt(text::to_utf8(word)));
      word.clear();
    }
  }
  return words;
}

Question read_question(const text::Tokeniser& vocabulary, std::string_view text) {
  Question question;
  for (std::string& word : words_of(text)) {
    const std::optional<std::int64_t> id = vocabulary.find(word);
    if (!id || *id <= text::unknown) {
      const bool is_small = std::find(kSmall.begin(), kSmall.end(), word) != kSmall.end();
      if (!is_small && question.unknown.size() < kMostWords)
        question.unknown.push_back(std::move(word));
      continue;
    }
    question.cut = question.words.size() == kMostWords;
    if (question.cut) break;
    question.words.push_back(std::move(word));
    question.ids.push_back(*id);
  }
  return question;
}

text::Tokeniser learn_words(std::span<const std::string> questions) {
  std::vector<std::string> words;
  for (const std::string& question : questions) {
    std::vector<std::string> some = words_of(question);
    std::move(some.begin(), some.end(), std::back_inserter(words));
  }
  return text::Tokeniser::learn(text::Units::words, words, kMostKnown);
}

}  // namespace attn::tasks::vqa
