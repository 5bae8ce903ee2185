/// The most probable cut of a text into pieces of a unigram model.
/// Kudo, 2018, arXiv:1804.10959; the same answers as SentencePiece.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "attn/text/tokeniser.hpp"
#include "text/trie.hpp"

namespace attn::text {

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
