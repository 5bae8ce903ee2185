#include "tools/serve/fields.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "tools/serve/message.hpp"

namespace attn::serve {
namespace {

/// The deepest request has an array of objects in an object.
constexpr std::size_t kDepth = 8;
constexpr std::int64_t kLargestPosition = std::int64_t{1} << 31;

[[noreturn]] void wrong(std::string_view field, const std::string& wanted) {
  refuse(400, "the field " + files::in_quotes(field) + " must be " + wanted);
}

std::int64_t whole_of(const nlohmann::json& value, std::string_view field, std::int64_t least,
                      std::int64_t most) {
  const std::string wanted =
      "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  if (!value.is_number_integer()) wrong(field, wanted);
  // Past 2^63 - 1 a number is unsigned and would wrap.
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
    wrong(field, wanted);
  const auto number = value.get<std::int64_t>();
  if (number < least || number > most) wrong(field, wanted);
  return number;
}

void check_list(const nlohmann::json& value, std::string_view field, std::size_t most) {
  if (!value.is_array() || value.size() > most)
    wrong(field, "a list of at most " + std::to_string(most));
}

}  // namespace

Fields::Fields(std::string_view body, const std::vector<std::string>& known) : Fields(body) {
  accept(known);
}

Fields::Fields(std::string_view body) {
  try {
    object_ =
        files::parse_json(body, "request", {.max_bytes = body.size(), .max_depth = kDepth});
  } catch (const FileError& error) {
    refuse(400, error.what());
  }
  if (!object_.is_object()) refuse(400, "the request must be a JSON object");
}

void Fields::accept(const std::vector<std::string>& known) const {
  for (const auto& [name, value] : object_.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string names;
    for (const std::string& one : known) names.append(names.empty() ? "" : ", ").append(one);
    refuse(400, "there is no field " + files::in_quotes(name) + "; there are " + names);
  }
}

std::string Fields::text(const char* name, std::size_t max_bytes) const {
  auto found = optional_text(name, max_bytes);
  if (!found) refuse(400, std::string("the field \"") + name + "\" is missing");
  return *std::move(found);
}

std::optional<std::string> Fields::optional_text(const char* name,
                                                 std::size_t max_bytes) const {
  const auto found = object_.find(name);
  if (found == object_.end()) return std::nullopt;
  if (!found->is_string()) wrong(name, "a text");
  const auto& text = found->get_ref<const std::string&>();
  if (text.size() > max_bytes)
    wrong(name, "a text of at most " + std::to_string(max_bytes) + " bytes; it has " +
                    std::to_string(text.size()));
  return text;
}

std::vector<std::string> Fields::texts(const char* name, std::size_t most) const {
  const auto found = object_.find(name);
  if (found == object_.end()) refuse(400, std::string("the field \"") + name + "\" is missing");
  check_list(*found, name, most);
  std::vector<std::string> all;
  for (const auto& value : *found) {
    if (!value.is_string()) wrong(name, "a list of texts");
    all.push_back(value.get<std::string>());
  }
  return all;
}

std::int64_t Fields::whole(const char* name, std::int64_t otherwise, std::int64_t least,
                           std::int64_t most) const {
  const auto found = object_.find(name);
  return found == object_.end() ? otherwise : whole_of(*found, name, least, most);
}

double Fields::number(const char* name, double otherwise, double least, double most) const {
  const auto found = object_.find(name);
  if (found == object_.end()) return otherwise;
  const double number = found->is_number() ? found->get<double>() : std::nan("");
  if (!(number >= least && number <= most))
    wrong(name, fmt::format("a number from {:g} to {:g}", least, most));
  return number;
}

bool Fields::flag(const char* name, bool otherwise) const {
  const auto found = object_.find(name);
  if (found == object_.end()) return otherwise;
  if (!found->is_boolean()) wrong(name, "true or false");
  return found->get<bool>();
}

std::vector<std::int64_t> Fields::positions(const char* name, std::size_t most) const {
  std::vector<std::int64_t> all;
  const auto found = object_.find(name);
  if (found == object_.end()) return all;
  check_list(*found, name, most);
  for (const auto& value : *found) all.push_back(whole_of(value, name, 0, kLargestPosition));
  return all;
}

std::vector<std::pair<std::int64_t, std::int64_t>> Fields::pairs(const char* name,
                                                                 const char* first,
                                                                 const char* second,
                                                                 std::size_t most) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  const auto found = object_.find(name);
  if (found == object_.end()) return all;
  check_list(*found, name, most);
  for (const auto& value : *found) {
    if (!value.is_object() || value.size() != 2 || !value.contains(first) ||
        !value.contains(second))
      wrong(name, std::string("a list of {\"") + first + "\": n, \"" + second + "\": n}");
    all.emplace_back(
        whole_of(value[first], std::string(name) + "." + first, 0, kLargestPosition),
        whole_of(value[second], std::string(name) + "." + second, 0, kLargestPosition));
  }
  return all;
}

std::map<std::string, double> Fields::numbers(const char* name) const {
  std::map<std::string, double> all;
  const auto found = object_.find(name);
  if (found == object_.end()) return all;
  if (!found->is_object()) wrong(name, "an object of numbers");
  for (const auto& [key, value] : found->items()) {
    if (!value.is_number() || !std::isfinite(value.get<double>()))
      wrong(std::string(name) + "." + key, "a number");
    all[key] = value.get<double>();
  }
  return all;
}

}  // namespace attn::serve
