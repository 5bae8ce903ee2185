// Draws the curves of a training: losses on the left axis, scores on the right.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "attn/maps/map.hpp"
#include "drawing/canvas.hpp"
#include "drawing/figure.hpp"
#include "drawing/plot.hpp"

namespace attn::drawing {
namespace {

constexpr double kPlotHeight = 300.0;
constexpr double kTitleRoom = 20.0;  ///< above the plot, for what the axes count
constexpr std::size_t kMostDots = 60;

const TextStyle kAxisTitle{.size = 10.5, .colour = kMuted};

/// Losses, errors and scores are read against nothing at all, so zero is in sight.
Extent from_zero(const Extent& values) {
  Extent extent = values.widened(0.05);
  if (values.low >= 0.0) extent.low = 0.0;
  return extent;
}

class TrainingFigure final : public Figure {
 public:
  TrainingFigure(const maps::Training& map, double width) : map_(map), width_(width) {}

  Size layout(Canvas& canvas) override {
    Extent x;
    Extent left;
    Extent right;
    for (const maps::Series& series : map_.series) {
      x.take(series.x);
      (series.axis == maps::Axis::left ? left : right).take(series.y);
    }
    for (const maps::Mark& mark : map_.marks) {
      x.take(mark.x);
      (mark.axis == maps::Axis::left ? left : right).take(mark.y);
    }
    has_left_ = !left.empty();
    has_right_ = !right.empty();
    left_.x = right_.x = x.widened(0.0);
    left_.y = from_zero(left);
    right_.y = from_zero(right);
    left_ticks_ = ticks_of(left_.y, 6);
    right_ticks_ = ticks_of(right_.y, 6);
    left_room_ = has_left_ ? tick_room(canvas, left_ticks_) : 8.0;
    right_room_ = has_right_ ? tick_room(canvas, right_ticks_) + 4.0 : 12.0;
    const bool titles = !map_.left_title.empty() || !map_.right_title.empty();
    title_room_ = titles ? kTitleRoom : 8.0;
    for (std::size_t i = 0; i < map_.series.size(); ++i) {
      const maps::Series& series = map_.series[i];
      const bool note = has_left_ && series.axis == maps::Axis::right;
      legend_.push_back(
          {Entry::Mark::line, series_pen(i), series.name + (note ? " (right axis)" : "")});
    }
    legend_height_ = legend_height(canvas, legend_, width_);
    return {width_, legend_height_ + title_room_ + kPlotHeight + kAxisRoom};
  }

  void paint(Canvas& canvas, double x, double y) override {
    paint_legend(canvas, legend_, x, y, width_);
    left_.area = right_.area = {x + left_room_, y + legend_height_ + title_room_,
                                width_ - left_room_ - right_room_, kPlotHeight};
    if (has_left_) paint_y_axis(canvas, left_, left_ticks_, Side::left);
    if (has_right_) paint_y_axis(canvas, right_, right_ticks_, Side::right);
    paint_x_axis(canvas, left_, map_.x_title);
    for (std::size_t i = 0; i < map_.series.size(); ++i) {
      const maps::Series& series = map_.series[i];
      const Plot& plot = plot_of(series.axis);
      paint_line(canvas, plot, series.x, series.y, series_pen(i));
      // A score is known at its evaluations alone.
      if (series.axis == maps::Axis::right && series.x.size() <= kMostDots)
        for (std::size_t j = 0; j < series.x.size(); ++j)
          canvas.dot(plot.px(series.x[j]), plot.py(series.y[j]), 2.0, series_colour(i));
    }
    for (const maps::Mark& mark : map_.marks) paint_mark(canvas, mark);
    paint_titles(canvas);
  }

 private:
  const Plot& plot_of(maps::Axis axis) const {
    return axis == maps::Axis::left ? left_ : right_;
  }

  void paint_titles(Canvas& canvas) const {
    const double above = left_.area.y - 11.0;
    TextStyle style = kAxisTitle;
    style.limit = width_ / 2.0 - 8.0;
    canvas.text(left_.area.x - left_room_, above, map_.left_title, style);
    style.anchor = Anchor::right;
    canvas.text(left_.area.right() + right_room_, above, map_.right_title, style);
  }

  void paint_mark(Canvas& canvas, const maps::Mark& mark) const {
    const Plot& plot = plot_of(mark.axis);
    const double x = plot.px(mark.x);
    const double y = plot.py(mark.y);
    canvas.line(x, plot.area.y, x, plot.area.bottom(),
                {.colour = kMuted, .width = 0.75, .dashes = {3.0, 3.0}});
    canvas.dot(x, y, 4.5, kInk);
    canvas.dot(x, y, 3.0, kPaper);
    if (mark.label.empty()) return;
    const bool right_half = x > plot.area.x + plot.area.width / 2.0;
    // Above the dot, or below it near the top, on the side where there is room.
    const bool near_top = y < plot.area.y + 24.0;
    canvas.text(x + (right_half ? -7.0 : 7.0), y + (near_top ? 14.0 : -12.0), mark.label,
                {.size = 10.5,
                 .anchor = right_half ? Anchor::right : Anchor::left,
                 .limit = plot.area.width / 2.0,
                 .bold = true});
  }

  const maps::Training& map_;
  double width_;
  Plot left_;
  Plot right_;
  Ticks left_ticks_;
  Ticks right_ticks_;
  bool has_left_ = false;
  bool has_right_ = false;
  double left_room_ = 0.0;
  double right_room_ = 0.0;
  std::vector<Entry> legend_;
  double legend_height_ = 0.0;
  double title_room_ = 0.0;
};

}  // namespace

std::unique_ptr<Figure> figure_of(const maps::Training& map, double width) {
  if (std::all_of(map.series.begin(), map.series.end(),
                  [](const maps::Series& series) { return series.x.empty(); }))
    return empty_figure("no series has a point");
  return std::make_unique<TrainingFigure>(map, width);
}

}  // namespace attn::drawing
