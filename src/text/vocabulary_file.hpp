/// The plain file of a vocabulary: a header line, then one piece a line.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attn/text/tokeniser.hpp"

namespace attn::text {

struct Vocabulary {
  Units units = Units::characters;
  std::vector<Piece> pieces;
};

/// A piece that no vocabulary may hold, and why.
struct PieceProblem {
  std::size_t piece;
  std::string what;
};
/// The first of them, if there is one.
std::optional<PieceProblem> find_problem(Units units, std::span<const Piece> pieces);

/// attn-vocabulary 1 subwords 7996
/// ▁package<TAB>-5.0173
/// Scores stand behind subwords only, in the shortest form that reads back as the same float;
/// \t, \n, \r and \\ are escapes.
std::string vocabulary_text(const Vocabulary& vocabulary);

/// What vocabulary_text wrote; anything else is a FileError that names the line.
Vocabulary read_vocabulary(const std::filesystem::path& path);

/// Bytes of a piece. It bounds the time of a search; a longer word stays unknown.
inline constexpr std::size_t kLongestPiece = 256;
inline constexpr std::size_t kMostPieces = std::size_t{1} << 22;

}  // namespace attn::text
