#include "tasks/entail/words.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/tasks/network.hpp"
#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"

namespace attn::tasks::entail {
namespace {

constexpr std::size_t kStem = 4;
constexpr std::size_t kEnding = 3;
/// Beyond these, parts of words are too rare to learn anything from.
constexpr std::int64_t kMostStems = 800;
constexpr std::int64_t kMostEndings = 200;

/// Letters and digits of any script: beyond ASCII all but spaces and the blocks of punctuation.
bool is_of_word(char32_t c) {
  if (c < 0x80)
    return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z') || (c >= U'0' && c <= U'9');
  const bool punctuation = c < 0xC0 || c == 0xD7 || c == 0xF7 || (c >= 0x2000 && c <= 0x206F) ||
                           (c >= 0x3000 && c <= 0x303F);
  return !punctuation && !text::is_space(c);
}

/// "isn't" is two words, and so is "boy's".
void add_word(const std::string& word, std::vector<std::string>& words) {
  std::size_t at = word.find('\'');
  if (at == std::string::npos) {
    words.push_back(word);
    return;
  }
  if (at > 1 && word.compare(at - 1, std::string::npos, "n't") == 0) --at;
  if (at > 0) words.push_back(word.substr(0, at));
  words.push_back(word.substr(at));
}

text::Tokeniser learn(std::span<const std::string> units, std::int64_t most) {
  return text::Tokeniser::learn(text::Units::words, units, most);
}

std::unordered_map<std::string, std::int64_t> table_of(const Lexicon& lexicon,
                                                       const std::string& name) {
  const text::Tokeniser& tokeniser = lexicon.vocabularies.at(name);
  std::unordered_map<std::string, std::int64_t> table;
  for (std::int64_t id = text::unknown + 1; id < tokeniser.size(); ++id)
    table.emplace(tokeniser.label(id), id);
  return table;
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  const std::u32string letters = text::code_points(text::lower(text::nfkc(text)));
  std::vector<std::string> words;
  std::u32string word;
  for (std::size_t i = 0; i <= letters.size(); ++i) {
    const char32_t c = i == letters.size() ? U' ' : letters[i] == 0x2019 ? U'\'' : letters[i];
    const bool inside = c == U'\'' && !word.empty() && i + 1 < letters.size() &&
                        is_of_word(letters[i + 1]) && word.find(U'\'') == std::u32string::npos;
    if (is_of_word(c) || inside) {
      word += c;
    } else if (!word.empty()) {
      add_word(text::to_utf8(word), words);
      word.clear();
    }
  }
  return words;
}

std::string stem_of(std::string_view word) {
  return text::to_utf8(text::code_points(word).substr(0, kStem));
}

std::string ending_of(std::string_view word) {
  const std::u32string letters = text::code_points(word);
  return letters.size() <= kStem ? "" : text::to_utf8(letters.substr(letters.size() - kEnding));
}

Lexicon learn_words(std::span<const std::string> texts, std::int64_t most) {
  std::vector<std::string> words;
  std::vector<std::string> stems;
  std::vector<std::string> endings;
  for (const std::string& text : texts)
    for (std::string& word : words_of(text)) {
      stems.push_back(stem_of(word));
      if (std::string ending = ending_of(word); !ending.empty())
        endings.push_back(std::move(ending));
      words.push_back(std::move(word));
    }
  Lexicon lexicon;
  lexicon.vocabularies.emplace("words", learn(words, most));
  lexicon.vocabularies.emplace("stems", learn(stems, kMostStems));
  lexicon.vocabularies.emplace("endings", learn(endings, kMostEndings));
  return lexicon;
}

WordTables::WordTables(const Lexicon& lexicon)
    : words_(table_of(lexicon, "words")),
      stems_(table_of(lexicon, "stems")),
      endings_(table_of(lexicon, "endings")) {}

Sentence WordTables::read(std::string_view text) const {
  const auto id_in = [](const Table& table, const std::string& unit) {
    const auto at = table.find(unit);
    return at == table.end() ? std::int64_t{text::unknown} : at->second;
  };
  Sentence sentence;
  sentence.words = words_of(text);
  sentence.cut = sentence.words.size() > kMostWords;
  sentence.words.resize(std::min(sentence.words.size(), kMostWords));
  for (const std::string& word : sentence.words) {
    sentence.ids.push_back(id_in(words_, word));
    sentence.stems.push_back(id_in(stems_, stem_of(word)));
    const std::string ending = ending_of(word);
    sentence.endings.push_back(ending.empty() ? std::int64_t{text::pad}
                                              : id_in(endings_, ending));
    if (sentence.ids.back() == text::unknown) ++sentence.unknown;
  }
  return sentence;
}

}  // namespace attn::tasks::entail
