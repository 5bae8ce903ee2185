// Draws diagrams: boxes, arrows, texts and small matrices where they are placed.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "attn/maps/colour.hpp"
#include "attn/maps/map.hpp"
#include "drawing/canvas.hpp"
#include "drawing/figure.hpp"
#include "drawing/matrix.hpp"

namespace attn::drawing {
namespace {

constexpr double kRadius = 6.0;
constexpr double kHead = 9.0;  ///< of an arrow
constexpr double kGap = 5.0;   ///< between a grid and its labels
constexpr double kLabel = 11.0;
constexpr double kNumber = 10.0;

struct Colours {
  Rgb paper;
  Rgb line;
};

/// In the order of maps::Role: a tint to write on, and a colour that stands out.
Colours colours_of(maps::Role role) {
  constexpr std::array<Colours, 6> kAll{{{{246, 247, 249}, {91, 98, 112}},
                                         {{222, 235, 248}, {0, 90, 156}},
                                         {{253, 234, 212}, {190, 92, 0}},
                                         {{216, 239, 229}, {0, 116, 84}},
                                         {{245, 224, 237}, {160, 50, 130}},
                                         {{228, 226, 247}, {70, 60, 150}}}};
  return kAll[static_cast<std::size_t>(role)];
}

/// Towards paper where little weight is.
Rgb faded(Rgb colour, float weight) {
  const double share = 0.25 + 0.75 * std::clamp(static_cast<double>(weight), 0.0, 1.0);
  const auto mixed = [&](std::uint8_t one) {
    return static_cast<std::uint8_t>(std::lround(255.0 - share * (255.0 - one)));
  };
  return {mixed(colour.red), mixed(colour.green), mixed(colour.blue)};
}

Anchor anchor_of(maps::NoteAnchor anchor) {
  return anchor == maps::NoteAnchor::left     ? Anchor::left
         : anchor == maps::NoteAnchor::centre ? Anchor::centre
                                              : Anchor::right;
}

TextStyle style_of(const maps::Note& note) {
  return {.size = note.strong ? 12.0 : 11.0,
          .colour = note.role == maps::Role::plain ? kInk : colours_of(note.role).line,
          .anchor = anchor_of(note.anchor),
          .bold = note.strong};
}

class DiagramFigure final : public Figure {
 public:
  explicit DiagramFigure(const maps::Diagram& map) : map_(map) {
    for (const maps::Grid& grid : map.grids) top_ = std::max(top_, maps::top_of(grid.weights));
  }

  Size layout(Canvas& canvas) override {
    for (const maps::Part& part : map_.parts)
      take(part.x, part.x + part.width, part.y, part.y + part.height);
    for (const maps::Arrow& arrow : map_.arrows)
      for (const maps::Point& point : arrow.through)
        take(point.x - 2.0, point.x + 2.0, point.y - 2.0, point.y + 2.0);
    for (const maps::Note& note : map_.notes) {
      const Size size = canvas.measure(note.text, style_of(note));
      const double left = note.anchor == maps::NoteAnchor::left     ? note.x
                          : note.anchor == maps::NoteAnchor::centre ? note.x - size.width / 2.0
                                                                    : note.x - size.width;
      take(left, left + size.width, note.y - size.height / 2.0, note.y + size.height / 2.0);
    }
    for (const maps::Grid& grid : map_.grids) take_grid(canvas, grid);
    return {std::ceil(right_ - left_) + 1.0, std::ceil(bottom_ - above_) + 1.0};
  }

  void paint(Canvas& canvas, double x, double y) override {
    x_ = x - left_;
    y_ = y - above_;
    for (const maps::Grid& grid : map_.grids) paint_grid(canvas, grid);
    for (const maps::Part& part : map_.parts) paint_part(canvas, part);
    for (const maps::Arrow& arrow : map_.arrows) paint_arrow(canvas, arrow);
    for (const maps::Arrow& arrow : map_.arrows) paint_label(canvas, arrow);
    for (const maps::Note& note : map_.notes)
      canvas.text(x_ + note.x, y_ + note.y, note.text, style_of(note));
  }

 private:
  void take(double left, double right, double above, double bottom) {
    left_ = std::min(left_, left);
    right_ = std::max(right_, right);
    above_ = std::min(above_, above);
    bottom_ = std::max(bottom_, bottom);
  }

  static double width_of(const maps::Grid& grid) {
    return grid.cell_width * static_cast<double>(grid.columns.size());
  }
  static double height_of(const maps::Grid& grid) {
    return grid.cell_height * static_cast<double>(grid.rows.size());
  }

  /// Labels that are wider than a column lean.
  static bool leans(Canvas& canvas, const maps::Grid& grid) {
    return widest_label(canvas, std::span(grid.columns), {.size = kLabel}) >
           grid.cell_width - 2.0;
  }

  void take_grid(Canvas& canvas, const maps::Grid& grid) {
    const double wide = widest_label(canvas, std::span(grid.rows), {.size = kLabel});
    const double high = widest_label(canvas, std::span(grid.columns), {.size = kLabel});
    const double turned = (high + kLabel) * std::numbers::sqrt2 / 2.0;
    const bool lean = leans(canvas, grid);
    take(grid.x - (wide > 0.0 ? wide + kGap : 0.0),
         grid.x + width_of(grid) + (lean ? turned - grid.cell_width / 2.0 : 0.0),
         grid.y - (high > 0.0 ? kGap + (lean ? turned : 1.3 * kLabel) : 0.0),
         grid.y + height_of(grid));
  }

  void paint_grid(Canvas& canvas, const maps::Grid& grid) {
    const double left = x_ + grid.x;
    const double top = y_ + grid.y;
    const bool lean = leans(canvas, grid);
    for (std::size_t row = 0; row < grid.rows.size(); ++row) {
      const double cell_y = top + static_cast<double>(row) * grid.cell_height;
      for (std::size_t column = 0; column < grid.columns.size(); ++column)
        paint_cell(canvas, grid, row, column,
                   {left + static_cast<double>(column) * grid.cell_width, cell_y,
                    grid.cell_width - 1.0, grid.cell_height - 1.0});
      canvas.text(left - kGap, cell_y + grid.cell_height / 2.0, grid.rows[row],
                  {.size = kLabel, .anchor = Anchor::right});
    }
    for (std::size_t column = 0; column < grid.columns.size(); ++column) {
      const double middle = left + (static_cast<double>(column) + 0.5) * grid.cell_width;
      if (lean) {
        canvas.text(middle, top - kGap - 2.0, grid.columns[column],
                    {.size = kLabel, .degrees = -45.0});
      } else {
        canvas.text(middle, top - kGap - kLabel / 2.0, grid.columns[column],
                    {.size = kLabel, .anchor = Anchor::centre});
      }
    }
    canvas.outline({left - 0.5, top - 0.5, width_of(grid), height_of(grid)},
                   {.colour = kRule, .width = 0.75});
  }

  void paint_cell(Canvas& canvas, const maps::Grid& grid, std::size_t row, std::size_t column,
                  const Rect& cell) const {
    const float weight = grid.weights.at(row, column);
    const Rgb colour = maps::colour_of(weight, top_);
    canvas.fill(cell, colour);
    if (!grid.numbers) return;
    canvas.text(cell.x + cell.width / 2.0, cell.y + cell.height / 2.0,
                number_text(std::round(100.0 * static_cast<double>(weight)) / 100.0),
                {.size = kNumber, .colour = maps::text_on(colour), .anchor = Anchor::centre});
  }

  void paint_arrow(Canvas& canvas, const maps::Arrow& arrow) const {
    const Rgb colour = faded(colours_of(arrow.role).line, arrow.weight);
    const double width = 0.6 + 1.2 * static_cast<double>(arrow.weight);
    const double head = kHead + width;
    std::vector<double> x;
    std::vector<double> y;
    for (const maps::Point& point : arrow.through) {
      x.push_back(x_ + point.x);
      y.push_back(y_ + point.y);
    }
    const std::size_t last = x.size() - 1;
    const double tip_x = x[last];
    const double tip_y = y[last];
    const double length = std::hypot(tip_x - x[last - 1], tip_y - y[last - 1]);
    if (length == 0.0) return;
    // The line ends inside of the head, whose tip is sharp.
    x[last] -= (tip_x - x[last - 1]) / length * std::min(head * 0.8, length);
    y[last] -= (tip_y - y[last - 1]) / length * std::min(head * 0.8, length);
    canvas.polyline(x, y, {.colour = colour, .width = width});
    canvas.arrow_head(x[last - 1], y[last - 1], tip_x, tip_y, head, colour);
  }

  /// On the middle of the arrow's longest piece, over a patch of paper.
  void paint_label(Canvas& canvas, const maps::Arrow& arrow) const {
    if (arrow.label.empty()) return;
    std::size_t best = 0;
    double longest = -1.0;
    for (std::size_t i = 0; i + 1 < arrow.through.size(); ++i) {
      const double length = std::hypot(arrow.through[i + 1].x - arrow.through[i].x,
                                       arrow.through[i + 1].y - arrow.through[i].y);
      if (length > longest) {
        longest = length;
        best = i;
      }
    }
    const double x = x_ + (arrow.through[best].x + arrow.through[best + 1].x) / 2.0;
    const double y = y_ + (arrow.through[best].y + arrow.through[best + 1].y) / 2.0;
    const TextStyle style{
        .size = 10.5, .colour = colours_of(arrow.role).line, .anchor = Anchor::centre};
    const Size size = canvas.measure(arrow.label, style);
    canvas.fill_rounded({x - size.width / 2.0 - 3.0, y - 7.5, size.width + 6.0, 15.0}, 3.0,
                        kPaper);
    canvas.text(x, y, arrow.label, style);
  }

  void paint_part(Canvas& canvas, const maps::Part& part) const {
    const Rect box{x_ + part.x, y_ + part.y, part.width, part.height};
    const Colours colours = colours_of(part.role);
    canvas.fill_rounded(box, kRadius, colours.paper);
    canvas.outline_rounded(box, kRadius, {.colour = colours.line, .width = 1.25});
    const double middle = box.x + box.width / 2.0;
    const bool two = !part.detail.empty();
    canvas.text(middle, box.y + box.height / 2.0 - (two ? 7.5 : 0.0), part.label,
                {.size = 12.0, .anchor = Anchor::centre, .limit = box.width - 6.0});
    canvas.text(
        middle, box.y + box.height / 2.0 + 8.5, part.detail,
        {.size = 10.0, .colour = kMuted, .anchor = Anchor::centre, .limit = box.width - 6.0});
  }

  const maps::Diagram& map_;
  float top_ = 0.0f;
  // What the shapes take, as they are placed.
  double left_ = maps::kLargestDiagram;
  double right_ = 0.0;
  double above_ = maps::kLargestDiagram;
  double bottom_ = 0.0;
  // Where the sheet's corner is painted.
  double x_ = 0.0;
  double y_ = 0.0;
};

}  // namespace

std::unique_ptr<Figure> figure_of(const maps::Diagram& map, double) {
  if (map.parts.empty() && map.notes.empty() && map.grids.empty())
    return empty_figure("no parts, no texts and no weights");
  return std::make_unique<DiagramFigure>(map);
}

}  // namespace attn::drawing
