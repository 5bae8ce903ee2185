/// BytePieces: text as pieces that common pairs have grown into, and as bytes where there is no
/// piece, so that every text comes back as it was, byte for byte.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/text/tokeniser.hpp"

namespace attn::text {

/// Byte-pair encoding (Sennrich, Haddow and Birch, 2016, arXiv:1508.07909) as Llama's models
/// have it: neighbours become the piece of the best score, again and again; of equals the first
/// in the text. The numbers 0, 1 and 2 are Mark's, 3 + b is the byte b, then come the pieces.
/// Nothing is normalised. Immutable and cheap to copy.
class BytePieces {
 public:
  static constexpr std::int64_t kFirstByte = 3;
  static constexpr std::int64_t kFirstPiece = kFirstByte + 256;

  /// Whether a text is read as if a space stood before it.
  enum class Opening { as_it_is, space };

  /// Pieces differ and are not empty; InvalidArgument else.
  explicit BytePieces(std::vector<Piece> pieces, Opening opening = Opening::as_it_is);

  /// Pieces that compress the texts: the commonest characters beyond ASCII, then pairs, the
  /// commonest first, until `size` numbers are taken or no pair is there twice. A piece lies
  /// within a word, and may begin with the space before it.
  static BytePieces learn(std::span<const std::string> texts, std::int64_t size);

  /// Without marks. Any bytes may come.
  std::vector<std::int64_t> encode(std::string_view text) const;
  /// Marks are left out; numbers outside the vocabulary are an InvalidArgument. What was cut
  /// within a character stays cut.
  std::string decode(std::span<const std::int64_t> ids) const;
  /// The bytes of one; "" of a mark.
  std::string_view bytes(std::int64_t id) const;
  /// As pictures have it: "▁pack", "↵", "<C3>", "</s>".
  std::string label(std::int64_t id) const;
  bool is_byte(std::int64_t id) const { return id >= kFirstByte && id < kFirstPiece; }

  std::int64_t size() const;
  const std::vector<Piece>& pieces() const;
  Opening opening() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// How many of the bytes at the front are whole characters of UTF-8; what is none counts as
/// one, so that only a character that may still be completed is left out.
std::size_t whole_characters(std::string_view bytes);

}  // namespace attn::text
