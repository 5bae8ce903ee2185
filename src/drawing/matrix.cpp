// SPDX-License-Identifier: Apache-2.0

#include "drawing/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "attn/maps/colour.hpp"
#include "attn/maps/map.hpp"
#include "attn/maps/pooled.hpp"
#include "drawing/canvas.hpp"
#include "drawing/figure.hpp"

namespace attn::drawing {
namespace {

constexpr double kLongestLabel = 150.0;
constexpr double kTitleSize = 11.0;
constexpr double kTitleRoom = 20.0;
constexpr double kSlant = 45.0;
constexpr double kToBar = 14.0;

/// Numbers along a side that is pooled or too dense for words: "1", "500", ….
std::size_t tick_step(std::size_t count) {
  std::size_t step = 1;
  for (std::size_t power = 1; count / step > 8; power *= 10)
    for (const std::size_t factor : {1, 2, 5})
      if (count / step > 8) step = factor * power;
  return step;
}

class AlignmentFigure final : public Figure {
 public:
  AlignmentFigure(const MatrixView& map, double width)
      : map_(map), width_(width), top_(maps::top_of(*map.weights)) {}

  Size layout(Canvas& canvas) override {
    const double left_guess = std::min(widest(canvas, *map_.rows, 12.0), kLongestLabel);
    cells_ = make_cells(*map_.weights, canvas, std::max(width_ - left_guess - 60.0, 120.0),
                        11.0, 42.0);
    const std::size_t longer = std::max(map_.rows->size(), map_.columns->size());
    words_ = longer <= kMostCells;
    font_ = words_ ? std::clamp(cells_.cell * 0.62, 8.0, 12.0) : 10.0;
    place_labels(canvas);
    const double right = std::max(cells_.width(), slanted_right_);
    return {std::max(left_ + right, kBarWidth), above_ + cells_.height() + kToBar + kBarHeight};
  }

  void paint(Canvas& canvas, double x, double y) override {
    const double left = x + left_;
    const double top = y + above_;
    paint_cells(canvas, cells_, left, top, top_);
    if (words_) {
      paint_columns(canvas, left, top);
      paint_rows(canvas, left, top);
    } else {
      canvas.outline({left - 0.5, top - 0.5, cells_.width() + 1.0, cells_.height() + 1.0},
                     {.colour = kRule});
      paint_ticks(canvas, left, top);
    }
    paint_titles(canvas, x, y);
    paint_bar(canvas, std::max(left, x), top + cells_.height() + kToBar, top_);
  }

  std::string remark() const override {
    const maps::Matrix& all = *map_.weights;
    if (cells_.seen.rows == all.rows && cells_.seen.columns == all.columns) return "";
    return "Each tile is the largest weight of its part: " + std::to_string(all.rows) + " × " +
           std::to_string(all.columns) + " weights in " + std::to_string(cells_.seen.rows) +
           " × " + std::to_string(cells_.seen.columns) + " tiles.";
  }

 private:
  static double widest(Canvas& canvas, const maps::Labels& labels, double size) {
    return widest_label(canvas, std::span(labels).first(std::min(labels.size(), kMostCells)),
                        {.size = size, .limit = kLongestLabel});
  }

  void place_labels(Canvas& canvas) {
    const double row_title = map_.row_title.empty() ? 0.0 : kTitleRoom;
    const double column_title = map_.column_title.empty() ? 0.0 : kTitleRoom;
    if (!words_) {
      left_ = row_title + 40.0;
      above_ = column_title + 18.0;
      return;
    }
    left_ = std::ceil(row_title + widest(canvas, *map_.rows, font_) + 8.0);
    const double wide = widest(canvas, *map_.columns, font_);
    upright_ = wide <= cells_.cell - 3.0;
    if (upright_) {
      above_ = column_title + font_ + 10.0;
      return;
    }
    const double turned = std::sqrt(0.5);
    above_ = std::ceil(column_title + (wide + font_) * turned + 6.0);
    for (std::size_t i = 0; i < map_.columns->size(); ++i) {
      const double length =
          canvas.measure((*map_.columns)[i], {.size = font_, .limit = kLongestLabel}).width;
      slanted_right_ = std::max(slanted_right_, (static_cast<double>(i) + 0.5) * cells_.cell +
                                                    (length + font_) * turned);
    }
    slanted_right_ = std::ceil(slanted_right_);
  }

  void paint_columns(Canvas& canvas, double left, double top) {
    for (std::size_t i = 0; i < map_.columns->size(); ++i) {
      const double middle =
          left + static_cast<double>(i) * cells_.cell + (cells_.cell - cells_.gap) / 2.0;
      const std::string& label = (*map_.columns)[i];
      if (upright_) {
        canvas.text(middle, top - 5.0 - font_ / 2.0, label,
                    {.size = font_, .anchor = Anchor::centre});
      } else {
        // The middle of its first letter stands over the middle of the column.
        canvas.text(middle, top - 4.0 - font_ * 0.3, label,
                    {.size = font_, .limit = kLongestLabel, .degrees = -kSlant});
      }
    }
  }

  void paint_rows(Canvas& canvas, double left, double top) {
    for (std::size_t i = 0; i < map_.rows->size(); ++i)
      canvas.text(left - 7.0,
                  top + static_cast<double>(i) * cells_.cell + (cells_.cell - cells_.gap) / 2.0,
                  (*map_.rows)[i],
                  {.size = font_, .anchor = Anchor::right, .limit = kLongestLabel});
  }

  void paint_ticks(Canvas& canvas, double left, double top) {
    const Pen pen{.colour = kMuted, .width = 0.75};
    const std::size_t rows = map_.rows->size();
    const std::size_t columns = map_.columns->size();
    for (std::size_t i = 0; i < columns; i += tick_step(columns)) {
      const double at =
          left + cells_.width() * (static_cast<double>(i) + 0.5) / static_cast<double>(columns);
      canvas.line(at, top - 4.0, at, top - 1.0, pen);
      canvas.text(at, top - 11.0, std::to_string(i == 0 ? 1 : i),
                  {.size = font_, .colour = kMuted, .anchor = Anchor::centre});
    }
    for (std::size_t i = 0; i < rows; i += tick_step(rows)) {
      const double at =
          top + cells_.height() * (static_cast<double>(i) + 0.5) / static_cast<double>(rows);
      canvas.line(left - 4.0, at, left - 1.0, at, pen);
      canvas.text(left - 7.0, at, std::to_string(i == 0 ? 1 : i),
                  {.size = font_, .colour = kMuted, .anchor = Anchor::right});
    }
  }

  void paint_titles(Canvas& canvas, double x, double y) {
    const double middle = x + left_ + cells_.width() / 2.0;
    const TextStyle style{.size = kTitleSize, .colour = kMuted, .anchor = Anchor::centre};
    TextStyle across = style;
    across.limit = std::max(cells_.width(), 100.0);
    canvas.text(std::max(middle, x + across.limit / 2.0), y + kTitleSize / 2.0,
                map_.column_title, across);
    TextStyle along = style;
    along.degrees = -90.0;
    along.limit = std::max(cells_.height(), 60.0);
    canvas.text(x + kTitleSize / 2.0, y + above_ + cells_.height() / 2.0, map_.row_title,
                along);
  }

  MatrixView map_;
  double width_;
  float top_;
  Cells cells_;
  bool words_ = true;    ///< labels are words, not numbers
  bool upright_ = true;  ///< labels of columns are level, not slanted
  double font_ = 11.0;
  double left_ = 0.0;
  double above_ = 0.0;
  double slanted_right_ = 0.0;
};

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

double widest_label(Canvas& canvas, std::span<const std::string> labels,
                    const TextStyle& style) {
  double width = 0.0;
  for (const std::string& label : labels)
    width = std::max(width, canvas.measure(label, style).width);
  return width;
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.5g", value);
  return text;
}

std::unique_ptr<Figure> matrix_figure(const MatrixView& map, double width) {
  if (map.rows->empty() || map.columns->empty())
    return empty_figure(std::to_string(map.rows->size()) + " rows, " +
                        std::to_string(map.columns->size()) + " columns");
  return std::make_unique<AlignmentFigure>(map, width);
}

std::unique_ptr<Figure> figure_of(const maps::Alignment& map, double width) {
  return matrix_figure({&map.weights, &map.rows, &map.columns, map.row_title, map.column_title},
                       width);
}

}  // namespace attn::drawing
