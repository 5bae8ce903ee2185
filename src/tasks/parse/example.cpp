// Sentences as examples of a corpus and as tables of an answer.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/value.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/parse/parser.hpp"
#include "tasks/parse/sentence.hpp"

namespace attn::tasks::parse {
namespace {

constexpr std::size_t kColumns = 6;

/// A word of several parts is one between spaces.
std::string without_spaces(const std::string& form) {
  std::string one;
  for (const std::string_view part : text::split_words(form)) {
    if (!one.empty()) one += '_';
    one += part;
  }
  return one;
}

}  // namespace

Example example_of(const Sentence& sentence, std::string id) {
  Example example{.id = std::move(id), .source = {}, .targets = {""}};
  for (const Word& word : sentence.words) {
    const char* between = example.source.empty() ? "" : " ";
    example.source += between + without_spaces(word.form);
    example.targets.front() +=
        between + word.tag + ":" + std::to_string(word.head) + ":" + word.relation;
  }
  example.parts.emplace("words", example.source);
  return example;
}

Sentence sentence_of(const Example& example) {
  const std::vector<std::string_view> forms = text::split_words(example.source);
  const std::vector<std::string_view> arcs = text::split_words(example.targets.front());
  if (forms.size() != arcs.size())
    fail("attn::tasks::parse: ", forms.size(), " words and ", arcs.size(), " arcs");
  Sentence sentence;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    // The first two colons part; relations have some of their own.
    const std::size_t tag = arcs[i].find(':');
    const std::size_t head = arcs[i].find(':', tag + 1);
    Word word{.form = std::string(forms[i]), .tag = std::string(arcs[i].substr(0, tag))};
    if (tag == std::string_view::npos || head == std::string_view::npos ||
        std::from_chars(arcs[i].data() + tag + 1, arcs[i].data() + head, word.head).ec !=
            std::errc())
      fail("attn::tasks::parse: '", arcs[i], "' is no TAG:HEAD:RELATION");
    word.relation = arcs[i].substr(head + 1);
    sentence.words.push_back(std::move(word));
  }
  return sentence;
}

Table table_of(std::span<const Sentence> sentences) {
  Table table{{"sentence", "number", "word", "tag", "head", "relation"}, {}};
  for (std::size_t i = 0; i < sentences.size(); ++i)
    for (std::size_t j = 0; j < sentences[i].words.size(); ++j) {
      const Word& word = sentences[i].words[j];
      table.rows.push_back({static_cast<double>(i + 1), static_cast<double>(j + 1), word.form,
                            word.tag, static_cast<double>(word.head), word.relation});
    }
  return table;
}

std::vector<Sentence> sentences_of(const Table& table) {
  std::vector<Sentence> sentences;
  for (const auto& row : table.rows) {
    if (row.size() != kColumns)
      fail("attn::tasks::parse: a row has ", row.size(), " cells; ", kColumns, " are accepted");
    const auto number = [&](std::size_t i) {
      return static_cast<std::int64_t>(std::get<double>(row[i]));
    };
    const auto& text = [&](std::size_t i) { return std::get<std::string>(row[i]); };
    if (number(1) == 1) sentences.emplace_back();
    if (sentences.empty()) fail("attn::tasks::parse: a table begins with word 1");
    sentences.back().words.push_back(
        {.form = text(2), .tag = text(3), .head = number(4), .relation = text(5)});
  }
  return sentences;
}

}  // namespace attn::tasks::parse
