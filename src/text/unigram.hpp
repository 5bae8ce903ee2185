/// The most probable cut of a text into pieces of a unigram model.
/// Kudo, 2018, arXiv:1804.10959; the same answers as SentencePiece.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/text/tokeniser.hpp"

namespace attn::text {

/// A trie of byte strings: finds every piece that begins at a place of a text. The children of
/// a node lie side by side, so a step is one search in a few bytes. Time to build and to search
/// depends on no hash: a hostile vocabulary cannot slow it down.
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

class Unigram {
 public:
  explicit Unigram(std::span<const Piece> pieces);

  /// Numbers of pieces from 0; -1 for a run of unknown characters. With all 256 pieces
  /// "<0x00>" to "<0xFF>" nothing is unknown: a character is spelt in its UTF-8 bytes.
  /// `text` is normalised.
  std::vector<std::int32_t> encode(std::string_view text) const;

  /// The byte a piece stands for, if it is one of those 256.
  std::optional<unsigned char> byte_of(std::int32_t piece) const;

 private:
  std::vector<float> scores_;
  float unknown_score_ = 0.0f;
  std::optional<std::array<std::int32_t, 256>> byte_pieces_;
  std::vector<std::int16_t> bytes_;  ///< of each piece, -1 for none; empty without byte pieces
  Trie trie_;
};

}  // namespace attn::text
