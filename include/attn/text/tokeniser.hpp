/// Tokeniser: text becomes whole numbers and comes back, from a plain file.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::text {

/// What one number stands for.
enum class Units {
  characters,  ///< a code point
  words,       ///< what stands between spaces
  subwords,    ///< pieces of a unigram model (Kudo, 2018, arXiv:1804.10959)
};

struct Piece {
  std::string text;
  float score = 0.0f;  ///< log-probability, of subwords
};

/// The first four numbers of every vocabulary.
enum Mark : std::int64_t { pad = 0, bos = 1, eos = 2, unknown = 3 };

/// Immutable and cheap to copy. Text is brought to NFKC, runs of white space become one space,
/// and what is not UTF-8 is an InvalidArgument.
class Tokeniser {
 public:
  /// `pieces` without the four marks; they must differ and not be empty.
  Tokeniser(Units units, std::vector<Piece> pieces);

  /// The `most` commonest units of the lines, common ones first, equal ones in order of code
  /// points. Of characters and words; subwords are trained by the program attn-vocabulary.
  static Tokeniser learn(Units units, std::span<const std::string> lines, std::int64_t most);

  /// Damage of any kind is a FileError that names the line.
  static Tokeniser read(const std::filesystem::path& path);
  void write(const std::filesystem::path& path) const;

  /// Without bos and eos.
  std::vector<std::int64_t> encode(std::string_view text) const;
  /// Marks are left out; numbers outside the vocabulary are an InvalidArgument.
  std::string decode(std::span<const std::int64_t> ids) const;
  /// The label of a token in a picture: "▁pack", "é", "<unk>".
  std::string label(std::int64_t id) const;
  /// The number that has this label; none when there is no such number.
  std::optional<std::int64_t> find(std::string_view label) const;

  /// The share of a text that the vocabulary does not hold, of its characters without white
  /// space, or of its words where those are the units; what is spelt in bytes counts as such.
  double unknown_share(std::string_view text) const;

  Units units() const;
  std::int64_t size() const;  ///< marks included
  /// SHA-256 of the file it would write, in hexadecimal.
  std::string checksum() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace attn::text
