/// Debian's package descriptions and their translations, from the cache or from apt.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

/// Texts lie in the index that holds it.
struct Description {
  std::string_view md5;  ///< of the English text: the same in every language
  std::string_view package;
  std::string_view source;   ///< the source package it is built from
  std::string_view section;  ///< "games"
  std::string_view synopsis;
  std::string_view body;  ///< lines with their leading space
};

struct Translated {
  std::string_view synopsis;
  std::string_view body;
};

/// Movable, not copyable: its views look into its own texts.
struct DebianIndex {
  DebianIndex() = default;
  DebianIndex(DebianIndex&&) = default;
  DebianIndex& operator=(DebianIndex&&) = default;

  std::string release;  ///< "12.15"
  std::vector<Description> english;
  std::unordered_map<std::string_view, Translated> translated;  ///< by md5; may be empty

  /// Vectors, because a moved string may move its characters.
  std::vector<std::string> texts;
};

/// The English descriptions in one text, each with its source package and section: what the
/// cache keeps. `packages` and `translations` are apt's Packages and Translation-en.
std::string merge_english(std::string_view packages, std::string_view translations,
                          std::string_view release);

/// From a text of merge_english and apt's Translation-`language`, which may be empty. Records
/// without a package, an md5 or a synopsis are no descriptions and left out.
DebianIndex parse_debian(std::string english, std::string translations,
                         std::string_view language);

/// From the cache, or fetched with apt. `language` as apt names it ("it"); "" for English
/// alone.
DebianIndex load_debian(const std::string& language, const Say& say);

}  // namespace attn::tasks
