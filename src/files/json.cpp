// SPDX-License-Identifier: Apache-2.0

#include "attn/files/json.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "files/sax.hpp"

namespace attn::files {
namespace {

using nlohmann::json;

/// Builds the tree; refuses depth and repeated keys before anything is built for them.
class TreeBuilder final : public SaxHandler {
 public:
  TreeBuilder(std::string_view text, std::string_view where, const JsonLimits& limits)
      : SaxHandler(text, where), limits_(limits) {}

  json take() { return std::move(root_); }

  bool null() override { return place(nullptr); }
  bool boolean(bool value) override { return place(value); }
  bool number_integer(number_integer_t value) override { return place(value); }
  bool number_unsigned(number_unsigned_t value) override { return place(value); }
  bool number_float(number_float_t value, const string_t&) override { return place(value); }
  bool string(string_t& value) override { return place(std::move(value)); }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    const auto [at, added] = open_.back()->get_ref<json::object_t&>().emplace(name, nullptr);
    if (!added) reject("key ", in_quotes(name), " a second time in one object");
    slot_ = &at->second;
    return true;
  }

 private:
  bool place(json value) {
    put(std::move(value));
    return true;
  }

  bool open(json container) {
    if (open_.size() >= limits_.max_depth)
      reject("nested more than ", limits_.max_depth, " deep");
    open_.push_back(put(std::move(container)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  // An array moves its elements when it grows, but only the last one can be open, and it is
  // complete before the next is added: the pointers in open_ stay good.
  json* put(json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (open_.back()->is_object()) {
      *slot_ = std::move(value);
      return slot_;
    }
    auto& array = open_.back()->get_ref<json::array_t&>();
    array.push_back(std::move(value));
    return &array.back();
  }

  JsonLimits limits_;
  json root_;
  std::vector<json*> open_;
  json* slot_ = nullptr;
};

/// InvalidArgument for what JSON text cannot carry. Calls itself no deeper than the limit.
void check_writable(const json& value, std::size_t depth) {
  constexpr std::string_view kWhere = "attn::files::write_json: ";
  if (value.is_structured() && depth >= JsonLimits{}.max_depth)
    fail(kWhere, "nested more than ", JsonLimits{}.max_depth, " deep");
  if (value.is_binary() || value.is_discarded())
    fail(kWhere, "a ", value.type_name(), " value; JSON has no such kind");
  if (value.is_number_float() && !std::isfinite(value.get<double>()))
    fail(kWhere, "the number ", value.get<double>(), "; JSON has finite ones only");
  if (value.is_string() && !is_utf8(value.get_ref<const std::string&>()))
    fail(kWhere, "text ", in_quotes(value.get_ref<const std::string&>()), " is not UTF-8");
  if (value.is_object()) {
    for (const auto& [key, child] : value.get_ref<const json::object_t&>()) {
      if (!is_utf8(key)) fail(kWhere, "key ", in_quotes(key), " is not UTF-8");
      check_writable(child, depth + 1);
    }
  } else if (value.is_array()) {
    for (const json& child : value) check_writable(child, depth + 1);
  }
}

[[noreturn]] void wrong_kind(const json& value, std::string_view where,
                             std::string_view accepted) {
  // Only small values are shown: printing a tree costs more than the message is worth.
  const std::string seen = value.is_number()   ? "the number " + value.dump()
                           : value.is_string() ? in_quotes(value.get_ref<const std::string&>())
                                               : std::string(value.type_name());
  fail<FileError>(where, ": ", seen, "; accepted: ", accepted);
}

}  // namespace

nlohmann::json parse_json(std::string_view text, std::string_view where,
                          const JsonLimits& limits) {
  if (text.size() > limits.max_bytes)
    fail<FileError>(where, ": ", text.size(), " bytes of JSON; at most ", limits.max_bytes,
                    " are accepted");
  TreeBuilder builder(text, where, limits);
  builder.run();
  return builder.take();
}

nlohmann::json read_json(const std::filesystem::path& path, const JsonLimits& limits) {
  return parse_json(read_text(path, limits.max_bytes),
                    "attn::files::read_json: " + path_text(path), limits);
}

void write_json(const std::filesystem::path& path, const nlohmann::json& value) {
  check_writable(value, 0);
  atomic_write(path, value.dump(2) + "\n");
}

const nlohmann::json& member(const nlohmann::json& object, std::string_view key,
                             std::string_view where) {
  if (!object.is_object()) wrong_kind(object, where, "an object");
  const auto& members = object.get_ref<const json::object_t&>();
  const auto at = members.find(std::string(key));
  if (at == members.end())
    fail<FileError>(where, ": there is no ", in_quotes(key), " among the ", members.size(),
                    " members");
  return at->second;
}

std::int64_t to_int(const nlohmann::json& value, std::string_view where) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() && value.get<std::uint64_t>() > kMax);
  if (!fits) wrong_kind(value, where, "an integer from -2^63 to 2^63 - 1");
  return value.get<std::int64_t>();
}

double to_double(const nlohmann::json& value, std::string_view where) {
  if (!value.is_number()) wrong_kind(value, where, "a number");
  return value.get<double>();
}

bool to_bool(const nlohmann::json& value, std::string_view where) {
  if (!value.is_boolean()) wrong_kind(value, where, "true or false");
  return value.get<bool>();
}

const std::string& to_text(const nlohmann::json& value, std::string_view where) {
  if (!value.is_string()) wrong_kind(value, where, "text");
  return value.get_ref<const std::string&>();
}

}  // namespace attn::files
