#include "tools/attn/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"

namespace attn::tools {
namespace {

/// Larger tables are not for a kernel that looks at every point.
constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 20;

using Fields = std::vector<std::string>;

/// Splits text into lines of fields.
class Reader {
 public:
  Reader(std::string_view text, char separator, std::string where)
      : text_(text), separator_(separator), where_(std::move(where)) {}

  /// False at the end. Empty lines are passed over.
  bool next(Fields& fields) {
    do {
      if (at_ >= text_.size()) return false;
      fields.clear();
      line_ += 1;
      read_line(fields);
    } while (fields.size() == 1 && fields[0].empty());
    return true;
  }
  std::size_t line() const { return line_; }

 private:
  void read_line(Fields& fields) {
    fields.emplace_back();
    while (at_ < text_.size()) {
      const char letter = text_[at_++];
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
    while (at_ < text_.size()) {
      const char letter = text_[at_++];
      if (letter != '"') {
        field += letter;
      } else if (at_ < text_.size() && text_[at_] == '"') {
        field += text_[at_++];
      } else {
        return;
      }
    }
    fail<FileError>(where_, ": a quote opened in line ", line_, " is never closed");
  }

  std::string_view text_;
  char separator_;
  std::string where_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
};

/// The separator that the first line has most of.
char separator_of(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  char best = ',';
  for (const char candidate : {';', '\t'})
    if (std::count(first.begin(), first.end(), candidate) >
        std::count(first.begin(), first.end(), best))
      best = candidate;
  return best;
}

/// Digits of `text` as a whole number; false if it holds anything else.
bool whole_of(std::string_view text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool date_of(const std::string& text, double& years) {
  int year = 0;
  int month = 0;
  int day = 1;
  const std::string_view view = text;
  const bool shaped = (view.size() == 10 && view[7] == '-') || view.size() == 7;
  if (!shaped || view[4] != '-' || !whole_of(view.substr(0, 4), year) ||
      !whole_of(view.substr(5, 2), month) ||
      (view.size() == 10 && !whole_of(view.substr(8), day)))
    return false;
  if (month < 1 || month > 12 || day < 1 || day > 31) return false;
  years = year + (month - 1 + (day - 1) / 31.0) / 12.0;
  return true;
}

}  // namespace

bool number_of(const std::string& text, double& number) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return false;
  const std::size_t end = text.find_last_not_of(" \t") + 1;
  const char* first = text.data() + begin + (text[begin] == '+' ? 1 : 0);
  const auto [rest, error] = std::from_chars(first, text.data() + end, number);
  if (error == std::errc() && rest == text.data() + end) return std::isfinite(number);
  return date_of(text.substr(begin, end - begin), number);
}

bool is_date(const std::string& text) {
  double years = 0.0;
  return date_of(text, years);
}

std::size_t Csv::find(const std::string& column) const {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == column) return i;
  int number = 0;
  if (whole_of(column, number) && number >= 1 &&
      static_cast<std::size_t>(number) <= names.size())
    return static_cast<std::size_t>(number) - 1;
  std::string known;
  for (const std::string& name : names)
    known += (known.empty() ? "" : ", ") + files::in_quotes(name);
  fail("there is no column ", files::in_quotes(column), "; there are: ", known);
}

Csv parse_csv(std::string_view text, const std::string& where) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte-order mark
  Reader reader(text, separator_of(text), where);
  Csv csv;
  Fields fields;
  if (!reader.next(fields)) fail<FileError>(where, ": there is no line in it");
  double number = 0.0;
  const bool headless = std::all_of(fields.begin(), fields.end(), [&](const auto& field) {
    return number_of(field, number);
  });
  csv.columns.resize(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i)
    csv.names.push_back(headless ? std::to_string(i + 1) : fields[i]);
  bool more = headless || reader.next(fields);
  for (; more; more = reader.next(fields)) {
    if (fields.size() != csv.names.size())
      fail<FileError>(where, ": line ", reader.line(), " has ", fields.size(),
                      " fields; the first has ", csv.names.size());
    for (std::size_t i = 0; i < fields.size(); ++i)
      csv.columns[i].push_back(std::move(fields[i]));
  }
  return csv;
}

Csv read_csv(const std::filesystem::path& path) {
  return parse_csv(files::read_text(path, kMaxBytes), files::path_text(path));
}

}  // namespace attn::tools
