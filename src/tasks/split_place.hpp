/// Where a text falls in a split: the same on every machine and in every year.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string_view>

namespace attn::tasks {

/// FNV-1a over the bytes, its bits mixed as splitmix64 does; FNV alone leaves the high bits of
/// short words alike.
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
