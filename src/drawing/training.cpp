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
    has_left_ = !left.empty();
    has_right_ = !right.empty();
    left_.x = right_.x = x.widened(0.0);
    left_.y = left.widened(0.05);
    right_.y = right.widened(0.05);
    left_ticks_ = ticks_of(left_.y, 6);
    right_ticks_ = ticks_of(right_.y, 6);
    left_room_ = has_left_ ? tick_room(canvas, left_ticks_) : 8.0;
    right_room_ = has_right_ ? tick_room(canvas, right_ticks_) + 4.0 : 12.0;
    for (std::size_t i = 0; i < map_.series.size(); ++i) {
      const maps::Series& series = map_.series[i];
      const bool note = has_left_ && series.axis == maps::Axis::right;
      legend_.push_back(
          {Entry::Mark::line, series_pen(i), series.name + (note ? " (right axis)" : "")});
    }
    legend_height_ = legend_height(canvas, legend_, width_);
    return {width_, legend_height_ + 8.0 + kPlotHeight + kAxisRoom};
  }

  void paint(Canvas& canvas, double x, double y) override {
    paint_legend(canvas, legend_, x, y, width_);
    left_.area = right_.area = {x + left_room_, y + legend_height_ + 8.0,
                                width_ - left_room_ - right_room_, kPlotHeight};
    if (has_left_) paint_y_axis(canvas, left_, left_ticks_, Side::left);
    if (has_right_) paint_y_axis(canvas, right_, right_ticks_, Side::right);
    paint_x_axis(canvas, left_, map_.x_title);
    for (std::size_t i = 0; i < map_.series.size(); ++i) {
      const maps::Series& series = map_.series[i];
      paint_line(canvas, series.axis == maps::Axis::left ? left_ : right_, series.x, series.y,
                 series_pen(i));
    }
  }

 private:
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
};

}  // namespace

std::unique_ptr<Figure> figure_of(const maps::Training& map, double width) {
  if (std::all_of(map.series.begin(), map.series.end(),
                  [](const maps::Series& series) { return series.x.empty(); }))
    return empty_figure("no series has a point");
  return std::make_unique<TrainingFigure>(map, width);
}

}  // namespace attn::drawing
