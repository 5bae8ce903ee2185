#include "attn/files/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"

namespace attn::files {
namespace {

using Fields = std::vector<std::string>;

/// Splits text into rows of fields.
class Reader {
 public:
  Reader(std::string_view text, char separator, std::string_view where)
      : text_(text), separator_(separator), where_(where) {}

  /// False at the end. Empty lines are passed over.
  bool next(Fields& fields) {
    do {
      if (at_ >= text_.size()) return false;
      fields.clear();
      begin_ = line_;
      read_row(fields);
    } while (fields.size() == 1 && fields[0].empty());
    return true;
  }
  /// Where the row begins.
  std::size_t line() const { return begin_; }

 private:
  char take() {
    const char letter = text_[at_++];
    if (letter == '\n') line_ += 1;
    return letter;
  }

  void read_row(Fields& fields) {
    fields.emplace_back();
    while (at_ < text_.size()) {
      const char letter = take();
      if (letter == '\n') return;
      if (letter == '\r') continue;
      if (letter == '"' && fields.back().empty()) {
        read_quoted(fields.back());
      } else if (letter == separator_) {
        fields.emplace_back();
      } else {
        fields.back() += letter;
      }
    }
  }

  void read_quoted(std::string& field) {
    const std::size_t opened = line_;
    while (at_ < text_.size()) {
      const char letter = take();
      if (letter != '"') {
        field += letter;
      } else if (at_ < text_.size() && text_[at_] == '"') {
        field += text_[at_++];
      } else {
        return;
      }
    }
    fail<FileError>(where_, ": a quote opened in line ", opened, " is never closed");
  }

  std::string_view text_;
  char separator_;
  std::string_view where_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t begin_ = 1;
};

}  // namespace

std::size_t Csv::find(std::string_view column) const {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == column) return i;
  std::size_t number = 0;
  const char* begin = column.data();
  const char* end = begin + column.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error == std::errc() && stop == end && number >= 1 && number <= names.size())
    return number - 1;
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + in_quotes(name);
  fail("there is no column ", in_quotes(column), "; there are: ", known);
}

char csv_separator(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  char best = ',';
  for (const char candidate : {';', '\t'})
    if (std::count(first.begin(), first.end(), candidate) >
        std::count(first.begin(), first.end(), best))
      best = candidate;
  return best;
}

Csv parse_csv(std::string_view text, std::string_view where) {
  return parse_csv(text, where, csv_separator(text));
}

Csv parse_csv(std::string_view text, std::string_view where, char separator) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte-order mark
  Reader reader(text, separator, where);
  Csv csv;
  Fields fields;
  if (!reader.next(fields)) fail<FileError>(where, ": there is no line in it");
  csv.names = fields;
  csv.columns.resize(fields.size());
  while (reader.next(fields)) {
    if (fields.size() != csv.names.size())
      fail<FileError>(where, ": line ", reader.line(), " has ", fields.size(),
                      " fields; the first has ", csv.names.size());
    for (std::size_t i = 0; i < fields.size(); ++i)
      csv.columns[i].push_back(std::move(fields[i]));
    csv.lines.push_back(reader.line());
  }
  return csv;
}

}  // namespace attn::files
