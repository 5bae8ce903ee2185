/// What those who read data share: reports, sides of examples, lines of a text, and where a
/// text falls in a split.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

/// Saying something to whoever listens; nobody has to.
inline void tell(const Say& say, std::string_view what) {
  if (say) say(what);
}

inline std::vector<std::string> sources_of(std::span<const Example> examples) {
  std::vector<std::string> sources;
  sources.reserve(examples.size());
  for (const Example& example : examples) sources.push_back(example.source);
  return sources;
}

inline std::vector<std::vector<std::string>> targets_of(std::span<const Example> examples) {
  std::vector<std::vector<std::string>> targets;
  targets.reserve(examples.size());
  for (const Example& example : examples) targets.push_back(example.targets);
  return targets;
}

/// The first line of a text, without its end, which is taken off the text with it.
inline std::string_view take_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  return line;
}

/// The same on every machine and in every year: FNV-1a over the bytes, its bits mixed as
/// splitmix64 does; FNV alone leaves the high bits of short words alike.
inline std::uint64_t split_hash(std::string_view text, std::uint64_t seed = 0) {
  std::uint64_t hash = 0xcbf29ce484222325u ^ seed * 0x9e3779b97f4a7c15u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
  return hash ^ hash >> 31;
}

/// The same as a number in [0, 1).
inline double split_place(std::string_view text, std::uint64_t seed = 0) {
  return static_cast<double>(split_hash(text, seed) >> 11) * 0x1p-53;
}

}  // namespace attn::tasks
