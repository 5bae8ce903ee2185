// SPDX-License-Identifier: Apache-2.0

#include "drawing/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "drawing/canvas.hpp"
#include "drawing/matrix.hpp"

namespace attn::drawing {
namespace {

const TextStyle kTickText{.size = 10.0, .colour = kMuted};
constexpr double kLegendRow = 18.0;
constexpr double kLegendMark = 26.0;

}  // namespace

void Extent::take(double value) {
  low = std::min(low, value);
  high = std::max(high, value);
}

void Extent::take(std::span<const double> values) {
  for (const double value : values) take(value);
}

Extent Extent::widened(double share) const {
  if (empty()) return {0.0, 1.0};
  const double size = std::max(std::fabs(low), std::fabs(high));
  // Numbers that differ by less than doubles can part are one number.
  if (high - low <= size * 1e-12) {
    const double around = size > 0.0 ? size * 0.1 : 1.0;
    return {low - around, high + around};
  }
  return {low - share * (high - low), high + share * (high - low)};
}

Ticks ticks_of(const Extent& extent, int count) {
  constexpr int kMost = 30;
  const double rough = (extent.high - extent.low) / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10.0 * power;
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) {
      step = factor * power;
      break;
    }
  Ticks ticks;
  const double first = std::ceil(extent.low / step - 1e-9);
  for (int i = 0; i < kMost; ++i) {
    double value = (first + i) * step;
    if (!(value <= extent.high + step * 1e-9)) break;
    if (std::fabs(value) < step * 1e-9) value = 0.0;
    ticks.values.push_back(value);
    ticks.texts.push_back(number_text(value));
  }
  return ticks;
}

double Plot::px(double value) const {
  return area.x + (value - x.low) / (x.high - x.low) * area.width;
}

double Plot::py(double value) const {
  return area.bottom() - (value - y.low) / (y.high - y.low) * area.height;
}

double tick_room(Canvas& canvas, const Ticks& ticks) {
  return std::ceil(widest_label(canvas, ticks.texts, kTickText)) + 9.0;
}

void paint_x_axis(Canvas& canvas, const Plot& plot, const std::string& title) {
  const Ticks ticks = ticks_of(plot.x, static_cast<int>(plot.area.width / 80.0) + 1);
  TextStyle style = kTickText;
  style.anchor = Anchor::centre;
  for (std::size_t i = 0; i < ticks.values.size(); ++i) {
    const double at = plot.px(ticks.values[i]);
    canvas.line(at, plot.area.bottom(), at, plot.area.bottom() + 4.0,
                {.colour = kMuted, .width = 0.75});
    canvas.text(at, plot.area.bottom() + 12.0, ticks.texts[i], style);
  }
  canvas.line(plot.area.x, plot.area.bottom(), plot.area.right(), plot.area.bottom(),
              {.colour = kMuted, .width = 0.75});
  style.size = 11.0;
  style.limit = plot.area.width;
  canvas.text(plot.area.x + plot.area.width / 2.0, plot.area.bottom() + 30.0, title, style);
}

void paint_y_axis(Canvas& canvas, const Plot& plot, const Ticks& ticks, Side side) {
  TextStyle style = kTickText;
  style.anchor = side == Side::left ? Anchor::right : Anchor::left;
  for (std::size_t i = 0; i < ticks.values.size(); ++i) {
    const double at = plot.py(ticks.values[i]);
    if (side == Side::left) {
      canvas.line(plot.area.x, at, plot.area.right(), at, {.colour = kRule, .width = 0.75});
      canvas.text(plot.area.x - 6.0, at, ticks.texts[i], style);
    } else {
      canvas.line(plot.area.right(), at, plot.area.right() + 4.0, at,
                  {.colour = kMuted, .width = 0.75});
      canvas.text(plot.area.right() + 7.0, at, ticks.texts[i], style);
    }
  }
}

void paint_line(Canvas& canvas, const Plot& plot, std::span<const double> x,
                std::span<const double> y, const Pen& pen) {
  constexpr double kSpot = 0.3;
  std::vector<double> across;
  std::vector<double> down;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double at_x = plot.px(x[i]);
    const double at_y = plot.py(y[i]);
    const bool last = i + 1 == x.size();
    if (!last && !across.empty() && std::fabs(at_x - across.back()) < kSpot &&
        std::fabs(at_y - down.back()) < kSpot)
      continue;
    across.push_back(at_x);
    down.push_back(at_y);
  }
  if (across.size() == 1) canvas.dot(across[0], down[0], 2.0, pen.colour);
  canvas.polyline(across, down, pen);
}

Rgb series_colour(std::size_t index) {
  // Okabe and Ito, 2008, in an order of unlike lightness.
  constexpr std::array<Rgb, 7> kColours{Rgb{0, 90, 156},   Rgb{230, 120, 0},  Rgb{0, 134, 98},
                                        Rgb{196, 92, 150}, Rgb{86, 170, 225}, Rgb{150, 110, 0},
                                        Rgb{60, 60, 60}};
  return kColours[index % kColours.size()];
}

Pen series_pen(std::size_t index) {
  static const std::array<std::vector<double>, 4> kDashes{
      std::vector<double>{}, {7.0, 3.0}, {2.0, 2.5}, {8.0, 3.0, 2.0, 3.0}};
  return {.colour = series_colour(index), .width = 1.75, .dashes = kDashes[index % 4]};
}

namespace {

/// Calls `place(entry, x, y)` for each and returns the height.
template <class Place>
double walk_legend(Canvas& canvas, const std::vector<Entry>& entries, double width,
                   const Place& place) {
  double x = 0.0;
  double y = 0.0;
  for (const Entry& entry : entries) {
    const double wide =
        kLegendMark +
        canvas.measure(entry.name, {.size = 10.5, .limit = width - kLegendMark}).width + 18.0;
    if (x > 0.0 && x + wide - 18.0 > width) {
      x = 0.0;
      y += kLegendRow;
    }
    place(entry, x, y);
    x += wide;
  }
  return entries.empty() ? 0.0 : y + kLegendRow;
}

}  // namespace

double legend_height(Canvas& canvas, const std::vector<Entry>& entries, double width) {
  return walk_legend(canvas, entries, width, [](const Entry&, double, double) {});
}

void paint_legend(Canvas& canvas, const std::vector<Entry>& entries, double left, double top,
                  double width) {
  walk_legend(canvas, entries, width, [&](const Entry& entry, double x, double y) {
    const double middle = top + y + kLegendRow / 2.0;
    const double mark = left + x;
    if (entry.mark == Entry::Mark::line) {
      canvas.line(mark, middle, mark + 20.0, middle, entry.pen);
    } else if (entry.mark == Entry::Mark::dot) {
      canvas.dot(mark + 10.0, middle, 2.5, entry.pen.colour, entry.pen.alpha);
    } else {
      canvas.fill({mark + 8.0, std::round(middle) - 5.0, 12.0, 10.0}, entry.pen.colour);
    }
    canvas.text(mark + kLegendMark, middle, entry.name,
                {.size = 10.5, .limit = width - kLegendMark});
  });
}

}  // namespace attn::drawing
