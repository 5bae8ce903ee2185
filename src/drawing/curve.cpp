// Draws points, lines through them, and the weights of a few queries below.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attn/maps/colour.hpp"
#include "attn/maps/map.hpp"
#include "drawing/canvas.hpp"
#include "drawing/figure.hpp"
#include "drawing/matrix.hpp"
#include "drawing/plot.hpp"

namespace attn::drawing {
namespace {

constexpr std::size_t kMostQueries = 6;
constexpr double kPlotHeight = 260.0;
constexpr double kStrip = 40.0;  ///< one query's stems
constexpr double kTitleRoom = 22.0;
constexpr Rgb kPointColour{120, 128, 142};
constexpr Rgb kQueryColour{160, 50, 130};

class CurveFigure final : public Figure {
 public:
  CurveFigure(const maps::Curve& map, double width)
      : map_(map), width_(width), top_(maps::top_of(map.weights)) {
    // Evenly from first to last, in the order of their places.
    std::vector<std::size_t> order(map.queries.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return map.queries[a] != map.queries[b] ? map.queries[a] < map.queries[b] : a < b;
    });
    const std::size_t count = std::min(order.size(), kMostQueries);
    for (std::size_t i = 0; i < count; ++i)
      shown_.push_back(
          order[count == 1 ? order.size() / 2 : i * (order.size() - 1) / (count - 1)]);
  }

  Size layout(Canvas& canvas) override {
    Extent x;
    Extent y;
    for (const maps::Point& point : map_.points) {
      x.take(point.x);
      y.take(point.y);
    }
    for (const maps::Line& line : map_.lines) {
      x.take(line.x);
      y.take(line.y);
    }
    x.take(map_.queries);
    plot_.x = x.widened(0.02);
    plot_.y = y.widened(0.06);
    y_ticks_ = ticks_of(plot_.y, 5);
    make_legend();
    legend_height_ = legend_height(canvas, legend_, width_);
    left_ = tick_room(canvas, y_ticks_) + (map_.y_title.empty() ? 0.0 : kTitleRoom);
    for (const std::size_t query : shown_)
      left_ = std::max(left_, canvas.measure(query_text(query), {.size = 10.0}).width + 8.0);
    left_ = std::ceil(left_);
    const double strips =
        shown_.empty() ? 0.0
                       : kShortAxisRoom + kStrip * static_cast<double>(shown_.size()) + 4.0;
    return {width_, legend_height_ + 6.0 + kPlotHeight + strips + kAxisRoom};
  }

  void paint(Canvas& canvas, double x, double y) override {
    paint_legend(canvas, legend_, x, y, width_);
    plot_.area = {x + left_, y + legend_height_ + 6.0, width_ - left_, kPlotHeight};
    paint_y_axis(canvas, plot_, y_ticks_, Side::left);
    canvas.text(x + 6.0, plot_.area.y + kPlotHeight / 2.0, map_.y_title,
                {.size = 11.0,
                 .colour = kMuted,
                 .anchor = Anchor::centre,
                 .limit = kPlotHeight,
                 .degrees = -90.0});
    canvas.clip(plot_.area);
    for (const std::size_t query : shown_)
      canvas.line(plot_.px(map_.queries[query]), plot_.area.y, plot_.px(map_.queries[query]),
                  plot_.area.bottom(),
                  {.colour = kQueryColour, .width = 0.75, .dashes = {3.0, 3.0}});
    paint_points(canvas);
    for (std::size_t i = 0; i < map_.lines.size(); ++i)
      paint_line(canvas, plot_, map_.lines[i].x, map_.lines[i].y, series_pen(i));
    canvas.unclip();
    paint_x_axis(canvas, plot_, shown_.empty() ? map_.x_title : "");
    if (!shown_.empty()) paint_strips(canvas, plot_.area.bottom() + kShortAxisRoom);
  }

  std::string remark() const override {
    if (shown_.size() == map_.queries.size()) return "";
    return "Weights are drawn for " + std::to_string(shown_.size()) + " of " +
           std::to_string(map_.queries.size()) + " queries.";
  }

 private:
  std::string query_text(std::size_t query) const {
    return "at " + number_text(map_.queries[query]);
  }

  void make_legend() {
    if (!map_.points.empty())
      legend_.push_back({Entry::Mark::dot, {.colour = kPointColour}, "known points"});
    for (std::size_t i = 0; i < map_.lines.size(); ++i)
      legend_.push_back({Entry::Mark::line, series_pen(i), map_.lines[i].name});
    if (!shown_.empty())
      legend_.push_back(
          {Entry::Mark::line,
           {.colour = kQueryColour, .width = 1.0, .dashes = {3.0, 3.0}},
           "places asked for; below, how much each takes of every point (full height: " +
               number_text(top_) + ")"});
  }

  void paint_points(Canvas& canvas) const {
    // Points on one spot are one dot.
    std::set<std::pair<long, long>> taken;
    const double radius = map_.points.size() > 400 ? 1.5 : 2.5;
    for (const maps::Point& point : map_.points) {
      const double x = plot_.px(point.x);
      const double y = plot_.py(point.y);
      if (taken.emplace(std::lround(2.0 * x), std::lround(2.0 * y)).second)
        canvas.dot(x, y, radius, kPointColour, 0.75);
    }
  }

  /// For each query a stem over every point, as high as its weight.
  void paint_strips(Canvas& canvas, double y) {
    Plot strip = plot_;
    for (const std::size_t query : shown_) {
      strip.area.y = y + 4.0;
      strip.area.height = kStrip - 10.0;
      const double base = strip.area.bottom();
      canvas.line(strip.area.x, base, strip.area.right(), base,
                  {.colour = kRule, .width = 0.75});
      paint_stems(canvas, strip, query);
      canvas.triangle(plot_.px(map_.queries[query]), base + 1.0, 6.0, kQueryColour);
      canvas.text(strip.area.x - 7.0, base - 6.0, query_text(query),
                  {.size = 10.0, .anchor = Anchor::right});
      y += kStrip;
    }
    strip.area = {plot_.area.x, y + 4.0, plot_.area.width, 0.0};
    paint_x_axis(canvas, strip, map_.x_title);
  }

  void paint_stems(Canvas& canvas, const Plot& strip, std::size_t query) const {
    // The largest of the points that share half a pixel.
    std::vector<float> heights(static_cast<std::size_t>(strip.area.width * 2.0) + 1, 0.0f);
    for (std::size_t i = 0; i < map_.points.size(); ++i) {
      const auto at =
          static_cast<std::size_t>(2.0 * (strip.px(map_.points[i].x) - strip.area.x));
      float& height = heights[std::min(at, heights.size() - 1)];
      height = std::max(height, map_.weights.at(query, i));
    }
    for (std::size_t i = 0; i < heights.size(); ++i) {
      const double share = std::min(heights[i] / top_, 1.0f);
      if (share < 0.004) continue;
      const double x = strip.area.x + static_cast<double>(i) / 2.0;
      canvas.line(x, strip.area.bottom(), x, strip.area.bottom() - share * strip.area.height,
                  {.colour = maps::colour_of(0.75f), .width = 1.25});
    }
  }

  const maps::Curve& map_;
  double width_;
  float top_;
  std::vector<std::size_t> shown_;
  Plot plot_;
  Ticks y_ticks_;
  std::vector<Entry> legend_;
  double legend_height_ = 0.0;
  double left_ = 0.0;
};

}  // namespace

std::unique_ptr<Figure> figure_of(const maps::Curve& map, double width) {
  const bool lines = std::any_of(map.lines.begin(), map.lines.end(),
                                 [](const maps::Line& line) { return !line.x.empty(); });
  if (map.points.empty() && !lines) return empty_figure("no points and no lines");
  return std::make_unique<CurveFigure>(map, width);
}

}  // namespace attn::drawing
