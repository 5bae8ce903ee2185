// Draws bars in groups: one bar for each value.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attn/maps/map.hpp"
#include "drawing/canvas.hpp"
#include "drawing/figure.hpp"
#include "drawing/matrix.hpp"
#include "drawing/plot.hpp"

namespace attn::drawing {
namespace {

constexpr std::size_t kMostGroups = 100;
constexpr std::size_t kMostSeries = 14;
constexpr double kBar = 14.0;
constexpr double kGroupGap = 12.0;
constexpr double kLongestLabel = 200.0;
constexpr double kValueRoom = 56.0;

/// Bars lie, so that names of any length stand level beside them.
class BarsFigure final : public Figure {
 public:
  BarsFigure(const maps::Bars& map, double width)
      : map_(map),
        width_(width),
        groups_(std::min(map.groups.size(), kMostGroups)),
        series_(std::min(map.series.size(), kMostSeries)) {}

  Size layout(Canvas& canvas) override {
    Extent values;
    values.take(0.0);
    for (std::size_t i = 0; i < series_; ++i) values.take(map_.series[i].values);
    plot_.x = values.high > values.low ? values : Extent{0.0, 1.0};
    plot_.y = {0.0, 1.0};
    left_ =
        std::ceil(widest_label(canvas, std::span(map_.groups).first(groups_), label())) + 10.0;
    if (plot_.x.low < 0.0) left_ += kValueRoom;
    if (series_ > 1)
      for (std::size_t i = 0; i < series_; ++i)
        legend_.push_back({Entry::Mark::block, series_pen(i), map_.series[i].name});
    legend_height_ = legend_height(canvas, legend_, width_);
    if (legend_height_ > 0.0) legend_height_ += 8.0;
    height_ = static_cast<double>(groups_) * (static_cast<double>(series_) * kBar + kGroupGap) +
              kGroupGap;
    return {width_, legend_height_ + height_ + kAxisRoom};
  }

  void paint(Canvas& canvas, double x, double y) override {
    paint_legend(canvas, legend_, x, y, width_);
    plot_.area = {std::round(x + left_), y + legend_height_, width_ - left_ - kValueRoom,
                  height_};
    const Ticks ticks = ticks_of(plot_.x, static_cast<int>(plot_.area.width / 80.0) + 1);
    for (const double tick : ticks.values)
      canvas.line(plot_.px(tick), plot_.area.y, plot_.px(tick), plot_.area.bottom(),
                  {.colour = kRule, .width = 0.75});
    double top = plot_.area.y + kGroupGap;
    const double bars = static_cast<double>(series_) * kBar;
    for (std::size_t group = 0; group < groups_; ++group) {
      TextStyle style = label();
      style.anchor = Anchor::right;
      canvas.text(plot_.area.x - 8.0 - (plot_.x.low < 0.0 ? kValueRoom : 0.0), top + bars / 2.0,
                  map_.groups[group], style);
      for (std::size_t i = 0; i < series_; ++i)
        paint_one(canvas, top + static_cast<double>(i) * kBar, i, map_.series[i].values[group]);
      top += bars + kGroupGap;
    }
    canvas.line(plot_.px(0.0), plot_.area.y, plot_.px(0.0), plot_.area.bottom(),
                {.colour = kMuted, .width = 1.0});
    paint_x_axis(canvas, plot_, map_.value_title);
  }

  std::string remark() const override {
    std::string text;
    if (groups_ < map_.groups.size())
      text = std::to_string(map_.groups.size() - groups_) + " more groups are not shown.";
    if (series_ < map_.series.size())
      text += (text.empty() ? "" : " ") + std::to_string(map_.series.size() - series_) +
              " more series are not shown.";
    return text;
  }

 private:
  static TextStyle label() { return {.size = 11.0, .limit = kLongestLabel}; }

  void paint_one(Canvas& canvas, double y, std::size_t series, double value) const {
    const double zero = plot_.px(0.0);
    const double end = plot_.px(value);
    canvas.fill({std::min(zero, end), y, std::max(std::fabs(end - zero), 0.75), kBar - 2.0},
                series_colour(series));
    canvas.text(
        end + (value < 0.0 ? -5.0 : 5.0), y + kBar / 2.0 - 1.0, number_text(value),
        {.size = 9.5, .colour = kMuted, .anchor = value < 0.0 ? Anchor::right : Anchor::left});
  }

  const maps::Bars& map_;
  double width_;
  std::size_t groups_;
  std::size_t series_;
  Plot plot_;
  std::vector<Entry> legend_;
  double legend_height_ = 0.0;
  double left_ = 0.0;
  double height_ = 0.0;
};

}  // namespace

std::unique_ptr<Figure> figure_of(const maps::Bars& map, double width) {
  if (map.groups.empty() || map.series.empty())
    return empty_figure(std::to_string(map.groups.size()) + " groups, " +
                        std::to_string(map.series.size()) + " series");
  return std::make_unique<BarsFigure>(map, width);
}

}  // namespace attn::drawing
