/// A trie of byte strings: finds every piece that begins at a place of a text.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace attn::text {

/// The children of a node lie side by side, so a step is one search in a few bytes. Time to
/// build and to search depends on no hash: a hostile vocabulary cannot slow it down.
class Trie {
 public:
  static constexpr std::int32_t kNone = -1;
  static constexpr std::int32_t kRoot = 0;

  /// Different keys, none empty, each with its value (not negative).
  explicit Trie(std::vector<std::pair<std::string_view, std::int32_t>> keys);

  /// The node one byte further, or kNone.
  std::int32_t step(std::int32_t node, char byte) const;
  /// The value of the key that ends at a node, or kNone.
  std::int32_t value(std::int32_t node) const {
    return nodes_[static_cast<std::size_t>(node)].value;
  }
  /// The value of a whole key, or kNone.
  std::int32_t find(std::string_view key) const;

 private:
  struct Node {
    std::int32_t first_child = 0;
    std::int32_t children = 0;
    std::int32_t value = kNone;
  };

  std::vector<Node> nodes_;
  std::vector<char> bytes_;  ///< by which byte each node is reached
};

}  // namespace attn::text
