/// Members of JSON objects, read into settings with messages that name them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"

namespace attn::tasks {

/// The text a flag would have: 0.5, transformer.
inline std::string flag_text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Calls set(text) where the member is there.
template <class Set>
void read_text(const nlohmann::json& object, const char* key, const std::string& where,
               const Set& set) {
  if (object.contains(key)) set(files::to_text(object.at(key), where + ": " + key));
}

inline void read_whole(const nlohmann::json& object, const char* key, const std::string& where,
                       std::int64_t least, std::int64_t& value) {
  if (!object.contains(key)) return;
  value = files::to_int(object.at(key), where + ": " + key);
  if (value < least)
    fail<FileError>(where, ": ", key, " is ", value, "; at least ", least, " is accepted");
}

/// The members of an object within the object, each of which is set as a flag of its name
/// would.
template <class Set>
void read_members(const nlohmann::json& object, const char* name, const std::string& where,
                  const Set& set) {
  if (!object.contains(name)) return;
  const nlohmann::json& inner = object.at(name);
  if (!inner.is_object())
    fail<FileError>(where, ": ", name, " is ", inner.type_name(), "; an object is accepted");
  for (const auto& [key, value] : inner.items()) {
    try {
      set(key, value);
    } catch (const FileError&) {
      throw;
    } catch (const InvalidArgument& error) {
      fail<FileError>(where, ": ", name, ".", files::printable(key), ": ", error.what());
    }
  }
}

}  // namespace attn::tasks
