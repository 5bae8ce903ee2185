#include "tasks/parse/conllu.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "tasks/parse/sentence.hpp"
#include "tasks/parse/tree.hpp"

namespace attn::tasks::parse {
namespace {

constexpr std::size_t kColumns = 10;
enum Column : std::size_t { id = 0, form = 1, tag = 3, head = 6, relation = 7, misc = 9 };
constexpr std::string_view kNoSpace = "SpaceAfter=No";

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Tabs part columns; more of them than ten are a fault that the caller sees.
std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  for (;;) {
    const std::size_t tab = line.find('\t');
    columns.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return columns;
    line.remove_prefix(tab + 1);
  }
}

class Reader {
 public:
  Reader(Columns columns, const std::string& where, std::size_t most)
      : trees_(columns == Columns::trees), where_(where), most_(most) {}

  std::vector<Sentence> read(std::string_view text) {
    while (!text.empty()) {
      const std::string_view line = take_line(text);
      ++number_;
      if (!files::is_utf8(line)) fault("is not UTF-8");
      if (line.find('\0') != std::string_view::npos) fault("has a NUL byte");
      if (is_blank(line)) {
        end();
      } else if (line.front() == '#') {
        now_.comments.emplace_back(line);
      } else {
        add(columns_of(line));
      }
    }
    ++number_;
    end();
    return std::move(sentences_);
  }

 private:
  template <class... Parts>
  [[noreturn]] void fault(const Parts&... parts) const {
    fail<FileError>(where_, ": line ", number_, " ", parts...);
  }

  void add(const std::vector<std::string_view>& columns) {
    if (columns.size() != kColumns)
      fault("has ", columns.size(), " columns, parted by tabs; CoNLL-U has ", kColumns);
    const std::string_view name = columns[Column::id];
    if (name.find('.') != std::string_view::npos) return;  // an empty node
    if (columns[Column::form].empty()) fault("has no word");
    const bool space = columns[Column::misc].find(kNoSpace) == std::string_view::npos;
    const auto next = static_cast<std::int64_t>(now_.words.size()) + 1;
    if (const std::size_t dash = name.find('-'); dash != std::string_view::npos) {
      const auto first = number_of(name.substr(0, dash));
      const auto last = number_of(name.substr(dash + 1));
      if (!first || !last || *first != next || *last <= *first)
        fault("begins with ", files::in_quotes(std::string(name)), "; a range of words from ",
              next, " on is accepted");
      now_.ranges.push_back({*first, *last, std::string(columns[Column::form]), space});
      return;
    }
    if (number_of(name) != next)
      fault("begins with ", files::in_quotes(std::string(name)), "; the number of the word, ",
            next, ", is accepted");
    if (now_.words.size() == most_)
      fault("is word ", next, " of its sentence; at most ", most_, " are read");
    Word word{.form = std::string(columns[Column::form]), .space_after = space};
    if (trees_) read_arc(columns, word);
    now_.words.push_back(std::move(word));
  }

  void read_arc(const std::vector<std::string_view>& columns, Word& word) const {
    const auto place = number_of(columns[Column::head]);
    if (!place || *place < 0)
      fault("has the head ", files::in_quotes(std::string(columns[Column::head])),
            "; the number of a word, or 0, is accepted");
    for (const Column column : {Column::tag, Column::relation})
      if (columns[column].empty() || columns[column] == "_" ||
          columns[column].find(' ') != std::string_view::npos)
        fault("has no ", column == Column::tag ? "tag" : "relation", " in column ", column + 1);
    word.head = *place;
    word.tag = columns[Column::tag];
    word.relation = columns[Column::relation];
  }

  void end() {
    if (now_.words.empty() && now_.ranges.empty()) {
      now_.comments.clear();
      return;
    }
    const auto count = static_cast<std::int64_t>(now_.words.size());
    if (!now_.ranges.empty() && now_.ranges.back().last > count)
      fault("ends a sentence of ", count, " words in the middle of ",
            files::in_quotes(now_.ranges.back().form));
    std::vector<std::int64_t> heads;
    // Few, and their number is not known before.
    // NOLINTNEXTLINE(performance-inefficient-vector-operation)
    for (const Word& word : now_.words) heads.push_back(word.head);
    if (trees_ && !is_tree(heads))
      fault("ends a sentence whose heads are no tree with one root");
    sentences_.push_back(std::exchange(now_, {}));
  }

  bool trees_;
  const std::string& where_;
  std::size_t most_;
  std::size_t number_ = 0;  ///< of the line
  Sentence now_;
  std::vector<Sentence> sentences_;
};

/// A field that is never empty.
std::string field(const std::string& text) {
  return text.empty() ? "_" : text;
}

void write_line(const std::array<std::string, kColumns>& columns, std::string& out) {
  for (std::size_t i = 0; i < kColumns; ++i) out += (i == 0 ? "" : "\t") + columns[i];
  out += '\n';
}

std::array<std::string, kColumns> blank_line(std::string name, const std::string& form,
                                             bool space_after) {
  std::array<std::string, kColumns> columns;
  columns.fill("_");
  columns[Column::id] = std::move(name);
  columns[Column::form] = form;
  if (!space_after) columns[Column::misc] = kNoSpace;
  return columns;
}

}  // namespace

bool is_conllu(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (is_blank(line) || line.front() == '#') continue;
    return line.front() >= '1' && line.front() <= '9' &&
           columns_of(line).size() >= kColumns - 2;
  }
  return false;
}

std::vector<Sentence> read_conllu(std::string_view text, Columns columns,
                                  const std::string& where, std::size_t most) {
  return Reader(columns, where, most).read(text);
}

std::string text_of(const Sentence& sentence) {
  std::string text;
  const auto count = static_cast<std::int64_t>(sentence.words.size());
  auto range = sentence.ranges.begin();
  for (std::int64_t i = 1; i <= count; ++i) {
    const Word& word = sentence.words[static_cast<std::size_t>(i - 1)];
    const bool joined = range != sentence.ranges.end() && range->first == i;
    text += joined ? range->form : word.form;
    const bool space = joined ? range->space_after : word.space_after;
    if (joined) i = (range++)->last;
    if (space && i < count) text += ' ';
  }
  return text;
}

std::string to_conllu(std::span<const Sentence> sentences) {
  std::string out;
  for (const Sentence& sentence : sentences) {
    if (!out.empty()) out += '\n';
    for (const std::string& comment : sentence.comments) out += comment + "\n";
    if (sentence.comments.empty()) out += "# text = " + text_of(sentence) + "\n";
    auto range = sentence.ranges.begin();
    for (std::size_t i = 0; i < sentence.words.size(); ++i) {
      const auto number = static_cast<std::int64_t>(i) + 1;
      if (range != sentence.ranges.end() && range->first == number) {
        write_line(blank_line(std::to_string(range->first) + "-" + std::to_string(range->last),
                              range->form, range->space_after),
                   out);
        ++range;
      }
      const bool inside = range != sentence.ranges.begin() && std::prev(range)->last >= number;
      const Word& word = sentence.words[i];
      auto columns = blank_line(std::to_string(number), word.form, word.space_after || inside);
      columns[Column::tag] = field(word.tag);
      columns[Column::head] = std::to_string(word.head);
      columns[Column::relation] = field(word.relation);
      write_line(columns, out);
    }
  }
  return out;
}

}  // namespace attn::tasks::parse
