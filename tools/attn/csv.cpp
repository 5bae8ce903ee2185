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

#include "attn/files/csv.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"

namespace attn::tools {
namespace {

/// Larger tables are not for a kernel that looks at every point.
constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 20;

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

Csv parse_csv(std::string_view text, const std::string& where) {
  Csv csv = files::parse_csv(text, where);
  double number = 0.0;
  const bool headless = std::all_of(csv.names.begin(), csv.names.end(), [&](const auto& field) {
    return number_of(field, number);
  });
  if (!headless) return csv;
  for (std::size_t i = 0; i < csv.names.size(); ++i) {
    csv.columns[i].insert(csv.columns[i].begin(), csv.names[i]);
    csv.names[i] = std::to_string(i + 1);
  }
  csv.lines.insert(csv.lines.begin(), 1);
  return csv;
}

Csv read_csv(const std::filesystem::path& path) {
  return parse_csv(files::read_text(path, kMaxBytes), files::path_text(path));
}

}  // namespace attn::tools
