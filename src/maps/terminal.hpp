/// Pieces of a picture in a terminal: shaded cells, and blocks of lines set side by side.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/maps/show.hpp"

namespace attn::maps {

/// Lines that are all `width` columns wide, escape sequences not counted.
struct Block {
  std::vector<std::string> lines;
  std::size_t width = 0;
};

/// `text` on the colour of the weight (its share of the scale's top, 0..1); without colour the
/// text is replaced by shades as wide as it.
std::string cell(std::string_view text, float share, Colour colour);

/// One of " ░▒▓█".
std::string_view shade(float share);

/// Text cut or filled up with spaces to exactly `width` columns.
std::string left_in(std::string_view text, std::size_t width);
std::string right_in(std::string_view text, std::size_t width);

/// A matrix with its labels in at most `columns` columns, pooled where it must be. Weights are
/// shaded by their share of `top`.
Block matrix_block(const Matrix& weights, const Labels& rows, const Labels& columns, float top,
                   std::size_t width, Colour colour);

/// Blocks in rows of at most `width` columns, as text.
std::string side_by_side(const std::vector<Block>& blocks, std::size_t width);

/// The scale: shades and the weights they stand for.
std::string legend(float top, std::size_t width, Colour colour);

/// "0.25", "1e-05": few digits.
std::string short_number(double value);

// Curves, training runs, bars, arcs, diagrams and speech.
std::string show_curve(const Curve& map, std::size_t width, Colour colour);
std::string show_training(const Training& map, std::size_t width);
std::string show_bars(const Bars& map, std::size_t width);
std::string show_arcs(const Arcs& map, std::size_t width);
std::string show_diagram(const Diagram& map, std::size_t width, Colour colour);
std::string show_speech(const Speech& map, std::size_t width, Colour colour);

}  // namespace attn::maps
