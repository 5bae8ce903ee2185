/// Axes: numbers to places, ticks at round numbers, and how series differ.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "drawing/canvas.hpp"

namespace attn::drawing {

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  bool empty() const { return low > high; }
  void take(double value);
  void take(std::span<const double> values);
  /// Wider by a share on both sides; never without a length.
  Extent widened(double share) const;
};

struct Ticks {
  std::vector<double> values;
  std::vector<std::string> texts;
};

/// Some `count` round numbers inside.
Ticks ticks_of(const Extent& extent, int count);

/// A frame with two axes.
struct Plot {
  Rect area;
  Extent x;
  Extent y;

  double px(double value) const;
  double py(double value) const;
};

enum class Side { left, right };

/// Room that the numbers of an axis take.
double tick_room(Canvas& canvas, const Ticks& ticks);
void paint_x_axis(Canvas& canvas, const Plot& plot, const std::string& title);
void paint_y_axis(Canvas& canvas, const Plot& plot, const Ticks& ticks, Side side);
constexpr double kAxisRoom = 40.0;       ///< below a plot: ticks and a title
constexpr double kShortAxisRoom = 22.0;  ///< without a title

/// A line that leaves out what falls onto the same spot.
void paint_line(Canvas& canvas, const Plot& plot, std::span<const double> x,
                std::span<const double> y, const Pen& pen);

/// Series differ by colour (all kinds of eyes), by lightness and by dashes (grey printers).
Pen series_pen(std::size_t index);
Rgb series_colour(std::size_t index);

struct Entry {
  enum class Mark { line, dot, block } mark;
  Pen pen;
  std::string name;
};

/// Names in rows; where it is told only to measure, nothing is drawn. Returns the height.
double legend_height(Canvas& canvas, const std::vector<Entry>& entries, double width);
void paint_legend(Canvas& canvas, const std::vector<Entry>& entries, double x, double y,
                  double width);

}  // namespace attn::drawing
