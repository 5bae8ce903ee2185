/// Matrices of weights: cells, their labels, and the bar that explains the colours.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <span>
#include <string>

#include "attn/maps/map.hpp"
#include "drawing/canvas.hpp"

namespace attn::drawing {

/// Rows or columns that still get a rectangle each; more are pooled, or an image.
constexpr std::size_t kMostCells = 128;
/// Weights along a side that an image shows one by one.
constexpr std::size_t kMostImageCells = 4096;

/// A matrix as it is drawn: pooled where it must be, with the size of a cell in points.
struct Cells {
  maps::Matrix seen;
  double cell = 0.0;
  double gap = 0.0;  ///< white between cells
  bool as_image = false;

  double width() const { return cell * static_cast<double>(seen.columns); }
  double height() const { return cell * static_cast<double>(seen.rows); }
};

/// Square cells for at most `side` points along the longer side, between `least` and `most`
/// points each; at most `most_cells` of them along a side.
Cells make_cells(const maps::Matrix& weights, const Canvas& canvas, double side, double least,
                 double most, std::size_t most_cells = kMostCells);

/// One filled rectangle a cell, row after row, from the corner (x, y); `top` is the weight of
/// the darkest colour.
void paint_cells(Canvas& canvas, const Cells& cells, double x, double y, float top);

/// "0 ▭▭▭ 1 weight", `kBarHeight` tall.
constexpr double kBarHeight = 16.0;
void paint_bar(Canvas& canvas, double x, double y, float top);
/// How wide it is.
constexpr double kBarWidth = 240.0;

/// The width of the widest of some texts; 0 for none.
double widest_label(Canvas& canvas, std::span<const std::string> labels,
                    const TextStyle& style);

/// "0.25", "1000", "2e-06": few digits.
std::string number_text(double value);

}  // namespace attn::drawing
