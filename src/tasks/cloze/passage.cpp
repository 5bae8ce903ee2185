#include "tasks/cloze/passage.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/files/json.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/text/unicode.hpp"

namespace attn::tasks::cloze {
namespace {

constexpr std::size_t kVersesBefore = 10;

/// Of ASCII; other scripts know no capitals here, and their letters all belong to words.
bool is_capital(const std::string& word) {
  return !word.empty() && word.front() >= 'A' && word.front() <= 'Z';
}

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         static_cast<unsigned char>(c) >= 0x80 || c == '\'' || c == '-';
}

const std::string& part_of(const Input& input, const char* name) {
  static const std::string kNone;
  const auto* text = input.find<std::string>(name);
  return text == nullptr ? kNone : *text;
}

/// Takes out what stands from `open` to `close`, both included.
void take_out(std::string& text, std::string_view open, std::string_view close) {
  for (std::size_t begin = text.find(open); begin != std::string::npos;
       begin = text.find(open, begin)) {
    const std::size_t end = text.find(close, begin);
    text.erase(begin, end == std::string::npos ? end : end + close.size() - begin);
  }
}

std::string joined(std::span<const std::string> parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " ") + part;
  return text;
}

}  // namespace

std::vector<std::string> tokens_of(std::string_view text) {
  const std::string plain = text::normalise(text);
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < plain.size();) {
    std::size_t end = i + 1;
    if (plain[i] == '_') {
      while (end < plain.size() && plain[end] == '_') ++end;
      tokens.emplace_back(kBlank);
    } else if (is_letter(plain[i])) {
      while (end < plain.size() && is_letter(plain[end])) ++end;
      const std::string word = plain.substr(i, end - i);
      tokens.push_back(word == "XXXXX" ? kBlank : word);
    } else if (plain[i] != ' ') {
      tokens.push_back(plain.substr(i, 1));
    }
    i = end;
  }
  return tokens;
}

bool Names::contains(const std::string& word) const {
  return is_capital(word) && word.size() > 1 &&
         (known.contains(word) || !common.contains(text::lower(word)));
}

Names learn_names(std::span<const std::vector<std::string>> texts) {
  std::map<std::string, std::size_t> small;
  std::map<std::string, std::size_t> large;
  for (const auto& tokens : texts)
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!is_letter(tokens[i].front())) continue;
      if (!is_capital(tokens[i])) ++small[tokens[i]];
      // Behind a mark anything may have a capital.
      else if (i > 0 && is_letter(tokens[i - 1].front()))
        ++large[tokens[i]];
    }
  Names names;
  for (const auto& [word, count] : small) names.common.insert(word);
  for (const auto& [word, count] : large) {
    const auto at = small.find(text::lower(word));
    if (at == small.end() || count > at->second) names.known.insert(word);
  }
  return names;
}

const std::string& text_of(const Input& input) {
  return part_of(input, "text");
}

const std::string& question_of(const Input& input) {
  return part_of(input, "question");
}

std::vector<std::string> verses_of(std::string_view json, const std::string& where) {
  std::vector<std::string> verses;
  for (const nlohmann::json& one : files::parse_json(std::string(json), where)) {
    std::string verse = files::to_text(one, where);
    take_out(verse, "<RF>", "<Rf>");
    take_out(verse, "<", ">");
    verses.push_back(text::normalise(verse));
  }
  return verses;
}

std::vector<Example> questions_of(std::span<const std::string> verses, const Names& names,
                                  const std::string& chapter, std::size_t least) {
  std::vector<Example> questions;
  for (std::size_t v = 1; v < verses.size(); ++v) {
    const std::size_t first = v - std::min(v, kVersesBefore);
    const std::string text = joined(verses.subspan(first, v - first));
    std::map<std::string, std::size_t> counts;
    for (const std::string& token : tokens_of(text))
      if (names.contains(token)) ++counts[token];
    if (counts.size() < 2) continue;
    const std::vector<std::string> tokens = tokens_of(verses[v]);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto at = counts.find(tokens[i]);
      if (at == counts.end() || at->second < least ||
          std::count(tokens.begin(), tokens.end(), tokens[i]) != 1)
        continue;
      std::vector<std::string> asked = tokens;
      asked[i] = kBlank;
      Example example{
          .id = chapter + ":" + std::to_string(v + 1), .source = "", .targets = {tokens[i]}};
      example.parts.emplace("text", text);
      example.parts.emplace("question", joined(asked));
      questions.push_back(std::move(example));
    }
  }
  return questions;
}

}  // namespace attn::tasks::cloze
