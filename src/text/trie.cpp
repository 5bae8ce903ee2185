// SPDX-License-Identifier: Apache-2.0

#include "text/trie.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace attn::text {

Trie::Trie(std::vector<std::pair<std::string_view, std::int32_t>> keys) {
  std::sort(keys.begin(), keys.end());
  // Level by level: the keys below a node are a range of the sorted ones.
  struct Range {
    std::size_t begin;
    std::size_t end;
    std::size_t depth;
  };
  std::vector<Range> ranges{{0, keys.size(), 0}};
  nodes_.emplace_back();
  bytes_.push_back(0);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    auto [begin, end, depth] = ranges[node];
    if (begin < end && keys[begin].first.size() == depth)
      nodes_[node].value = keys[begin++].second;
    nodes_[node].first_child = static_cast<std::int32_t>(nodes_.size());
    while (begin < end) {
      const char byte = keys[begin].first[depth];
      std::size_t next = begin;
      while (next < end && keys[next].first[depth] == byte) ++next;
      nodes_.emplace_back();
      bytes_.push_back(byte);
      ranges.push_back({begin, next, depth + 1});
      begin = next;
    }
    nodes_[node].children = static_cast<std::int32_t>(nodes_.size()) - nodes_[node].first_child;
  }
}

std::int32_t Trie::step(std::int32_t node, char byte) const {
  const Node& from = nodes_[static_cast<std::size_t>(node)];
  if (from.children == 0) return kNone;
  const char* first = bytes_.data() + from.first_child;
  const void* found = std::memchr(first, byte, static_cast<std::size_t>(from.children));
  if (found == nullptr) return kNone;
  return from.first_child + static_cast<std::int32_t>(static_cast<const char*>(found) - first);
}

std::int32_t Trie::find(std::string_view key) const {
  std::int32_t node = kRoot;
  for (const char byte : key) {
    node = step(node, byte);
    if (node == kNone) return kNone;
  }
  return value(node);
}

}  // namespace attn::text
