// SPDX-License-Identifier: Apache-2.0

#include "drawing/alignment.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>

#include "attn/maps/colour.hpp"
#include "attn/maps/map.hpp"
#include "drawing/canvas.hpp"
#include "drawing/figure.hpp"
#include "drawing/matrix.hpp"

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
    double width = 0.0;
    for (std::size_t i = 0; i < std::min(labels.size(), kMostCells); ++i)
      width = std::max(width,
                       canvas.measure(labels[i], {.size = size, .limit = kLongestLabel}).width);
    return width;
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

}  // namespace

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
