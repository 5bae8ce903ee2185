// SPDX-License-Identifier: Apache-2.0

#include "drawing/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "attn/maps/colour.hpp"
#include "attn/maps/map.hpp"
#include "attn/maps/pooled.hpp"
#include "drawing/canvas.hpp"

namespace attn::drawing {
namespace {

/// From here on a cell has room for its number.
constexpr double kNumberedCell = 34.0;

std::uint32_t packed(Rgb colour) {
  return static_cast<std::uint32_t>(colour.red) << 16 |
         static_cast<std::uint32_t>(colour.green) << 8 | colour.blue;
}

void paint_as_image(Canvas& canvas, const Cells& cells, double x, double y, float top) {
  Pixels pixels{cells.seen.columns, cells.seen.rows, {}};
  pixels.values.reserve(cells.seen.values.size());
  for (const float weight : cells.seen.values)
    pixels.values.push_back(packed(maps::colour_of(weight, top)));
  canvas.image({x, y, cells.width(), cells.height()}, pixels);
}

/// What rounds to nothing has no number: an empty cell says it.
constexpr float kLeastNumber = 0.005f;

void paint_number(Canvas& canvas, float weight, float top, const Rect& rect) {
  if (weight < kLeastNumber) return;
  char text[16];
  std::snprintf(text, sizeof(text), "%.2f", weight);
  const Rgb background = maps::colour_of(weight, top);
  // Small weights step back; black on white would shout.
  const Rgb ink = maps::luminance(background) > 0.75 ? kMuted : maps::text_on(background);
  const double limit = rect.width;
  canvas.text(rect.x + rect.width / 2.0, rect.y + rect.height / 2.0, text,
              {.size = 10.0, .colour = ink, .anchor = Anchor::centre, .limit = limit});
}

}  // namespace

Cells make_cells(const maps::Matrix& weights, const Canvas& canvas, double side, double least,
                 double most, std::size_t most_cells) {
  Cells cells;
  const std::size_t longer = std::max({weights.rows, weights.columns, std::size_t{1}});
  cells.as_image = longer > most_cells && canvas.is_image();
  const std::size_t limit = cells.as_image ? kMostImageCells : most_cells;
  cells.seen = maps::pooled(weights, limit, limit);
  const auto count = static_cast<double>(std::min(longer, limit));
  if (cells.as_image) {
    // Whole pixels a weight, so that all are equally large.
    const double pixels = std::max(1.0, std::floor(side * canvas.scale() / count));
    cells.cell = pixels / canvas.scale();
    return cells;
  }
  cells.cell = std::clamp(std::floor(side / count), longer > most_cells ? 1.0 : least, most);
  cells.gap = cells.cell >= 8.0 ? 1.0 : 0.0;
  return cells;
}

void paint_cells(Canvas& canvas, const Cells& cells, double x, double y, float top) {
  if (cells.as_image) return paint_as_image(canvas, cells, x, y, top);
  // Without a gap a cell reaches a little under its neighbours: no white shows between them
  // at any zoom.
  const double size = cells.cell - cells.gap;
  for (std::size_t row = 0; row < cells.seen.rows; ++row)
    for (std::size_t column = 0; column < cells.seen.columns; ++column) {
      const bool last_row = row + 1 == cells.seen.rows;
      const bool last_column = column + 1 == cells.seen.columns;
      const double under = cells.gap > 0.0 ? 0.0 : 0.5;
      const Rect rect{x + static_cast<double>(column) * cells.cell,
                      y + static_cast<double>(row) * cells.cell,
                      size + (last_column ? 0.0 : under), size + (last_row ? 0.0 : under)};
      const float weight = cells.seen.at(row, column);
      canvas.fill(rect, maps::colour_of(weight, top));
    }
  if (cells.cell < kNumberedCell) return;
  for (std::size_t row = 0; row < cells.seen.rows; ++row)
    for (std::size_t column = 0; column < cells.seen.columns; ++column)
      paint_number(canvas, cells.seen.at(row, column), top,
                   {x + static_cast<double>(column) * cells.cell,
                    y + static_cast<double>(row) * cells.cell, size, size});
}

void paint_bar(Canvas& canvas, double x, double y, float top) {
  constexpr int kParts = 64;
  constexpr double kPart = 2.0;
  constexpr double kTall = 10.0;
  const double middle = y + kBarHeight / 2.0;
  const double begin = x + 14.0;
  canvas.text(x, middle, "0", {.size = 10.0, .colour = kMuted});
  for (int i = 0; i < kParts; ++i)
    canvas.fill(
        {begin + i * kPart, middle - kTall / 2.0, i + 1 < kParts ? kPart + 0.5 : kPart, kTall},
        maps::colour_of(static_cast<float>(i) / (kParts - 1)));
  canvas.outline({begin - 0.5, middle - kTall / 2.0 - 0.5, kParts * kPart + 1.0, kTall + 1.0},
                 {.colour = kRule, .width = 0.75});
  canvas.text(begin + kParts * kPart + 7.0, middle, number_text(top) + " weight",
              {.size = 10.0, .colour = kMuted, .limit = kBarWidth - 150.0});
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.5g", value);
  return text;
}

}  // namespace attn::drawing
