#include "tasks/debian/records.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string_view>

namespace attn::tasks {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

std::optional<std::string_view> Record::field(std::string_view name) const {
  for (const Field& field : fields_)
    if (same_name(field.name, name)) return field.value;
  return std::nullopt;
}

std::string_view Record::body(std::string_view name) const {
  for (const Field& field : fields_)
    if (same_name(field.name, name)) return field.body;
  return {};
}

bool RecordReader::next(Record& record) {
  record.fields_.clear();
  while (!rest_.empty()) {
    const std::string_view line = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(rest_.size(), line.size() + 1));
    if (trimmed(line).empty()) {
      if (!record.fields_.empty()) return true;
      continue;
    }
    const bool continues = line.front() == ' ' || line.front() == '\t';
    if (continues && !record.fields_.empty()) {
      std::string_view& body = record.fields_.back().body;
      const char* begin = body.empty() ? line.data() : body.data();
      body = {begin, static_cast<std::size_t>(line.data() + line.size() - begin)};
      continue;
    }
    const std::size_t colon = line.find(':');
    if (continues || colon == std::string_view::npos) continue;
    record.fields_.push_back(
        {trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)), {}});
  }
  return !record.fields_.empty();
}

}  // namespace attn::tasks
