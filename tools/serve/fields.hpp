/// Fields: the JSON object of a request, asked member by member. What is wrong is a Refusal
/// with status 400 that names the field.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attn::serve {

class Fields {
 public:
  /// Not JSON, not UTF-8, too deep or not an object: refused.
  explicit Fields(std::string_view body);
  /// The same, and with members that nobody knows.
  Fields(std::string_view body, const std::vector<std::string>& known);

  /// Refuses members that are not known.
  void accept(const std::vector<std::string>& known) const;
  const nlohmann::json& object() const { return object_; }
  bool has(const char* name) const { return object_.contains(name); }
  std::string text(const char* name, std::size_t max_bytes) const;
  std::optional<std::string> optional_text(const char* name, std::size_t max_bytes) const;
  /// A list of at most `most` texts, which must be there.
  std::vector<std::string> texts(const char* name, std::size_t most) const;
  std::int64_t whole(const char* name, std::int64_t otherwise, std::int64_t least,
                     std::int64_t most) const;
  double number(const char* name, double otherwise, double least, double most) const;
  bool flag(const char* name, bool otherwise) const;
  /// Whole numbers from 0 to 2^31, at most `most` of them.
  std::vector<std::int64_t> positions(const char* name, std::size_t most) const;
  /// The same of objects with two members each: [{"step": 0, "position": 3}].
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs(const char* name, const char* first,
                                                           const char* second,
                                                           std::size_t most) const;
  /// An object of finite numbers.
  std::map<std::string, double> numbers(const char* name) const;

 private:
  nlohmann::json object_;
};

}  // namespace attn::serve
