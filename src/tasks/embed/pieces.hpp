/// Pieces: the vocabulary of the sentence encoder, and the likeliest cut of a text into it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace attn::tasks {

/// A unigram model (Kudo, 2018, arXiv:1804.10959) as the encoder was packed with it, oddities
/// included: a score that was lost on the way to JSON counts as 0, of equal cuts the one with
/// the shorter last piece wins, and no white space is trimmed or joined.
class Pieces {
 public:
  struct Entry {
    std::string text;
    double score = 0.0;
  };

  /// The first six entries are marks, and the first of them stands for the unknown. Entries
  /// must not be empty. `where` begins the messages, which are FileErrors.
  Pieces(const std::vector<Entry>& entries, std::string_view where);

  /// A JSON array of [piece, score].
  static Pieces read(const std::filesystem::path& path);

  /// 0 for each run of characters that no piece covers. InvalidArgument if it is not UTF-8.
  std::vector<std::int64_t> encode(std::string_view text) const;

  std::size_t size() const { return steps_.size(); }

 private:
  static constexpr std::int64_t kNone = -1;

  struct Node {
    std::int64_t id = kNone;
    double score = 0.0;
  };

  void insert(std::u32string_view piece, double score, std::int64_t id);
  /// Calls visit(end, node) for each piece that begins at `start`, short ones first.
  template <class Visit>
  void each_match(std::u32string_view text, std::size_t start, Visit visit) const;

  std::vector<Node> nodes_{Node{}};  ///< of the trie; the first is its root
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  ///< node and character -> node
  std::vector<std::size_t> steps_;  ///< how far each piece goes back, in UTF-16 units
};

}  // namespace attn::tasks
