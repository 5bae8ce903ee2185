// Draws matrices of weights: an alignment, or a small one for each head.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "attn/maps/colour.hpp"
#include "attn/maps/map.hpp"
#include "drawing/canvas.hpp"
#include "drawing/figure.hpp"
#include "drawing/matrix.hpp"

namespace attn::drawing {
namespace {

constexpr std::size_t kMostPanels = 400;
constexpr std::size_t kMostAcross = 8;
/// Rectangles in one picture; past that a viewer grows slow.
constexpr double kMostRectangles = 60000.0;
constexpr double kGap = 14.0;
constexpr double kHeadName = 15.0;
constexpr double kBandName = 22.0;
constexpr double kLongestLabel = 70.0;

/// Heads that stand in one row: of one layer, with the same labels.
struct Band {
  std::vector<const maps::Head*> heads;
  const maps::Labels* rows;
  const maps::Labels* columns;
  std::vector<Cells> cells;
  bool words = false;
  double font = 8.0;
  double left = 0.0;
  double above = 0.0;
  double panel = 0.0;  ///< the width of one
  std::size_t across = 1;

  double row_height() const { return kHeadName + above + cells.front().height() + kGap; }
  std::size_t row_count() const { return (heads.size() + across - 1) / across; }
  double height() const { return kBandName + row_height() * static_cast<double>(row_count()); }
};

class HeadsFigure final : public Figure {
 public:
  HeadsFigure(const maps::Heads& map, double width) : map_(map), width_(width) {
    float largest = 0.0f;
    for (const maps::Head& head : map.maps)
      for (const float weight : head.weights.values) largest = std::max(largest, weight);
    top_ = maps::top_of(largest);
    for (std::size_t i = 0; i < std::min(map.maps.size(), kMostPanels); ++i) add(map.maps[i]);
  }

  Size layout(Canvas& canvas) override {
    Size size{kBarWidth, 0.0};
    for (Band& band : bands_) {
      place(canvas, band);
      size.width =
          std::max(size.width,
                   band.left + static_cast<double>(band.across) * (band.panel + kGap) - kGap);
      size.height += band.height();
    }
    return {std::ceil(size.width), std::ceil(size.height + kBarHeight)};
  }

  void paint(Canvas& canvas, double x, double y) override {
    for (const Band& band : bands_) {
      paint_band(canvas, band, x, y);
      y += band.height();
    }
    paint_bar(canvas, x, y, top_);
  }

  std::string remark() const override {
    std::string text;
    const bool pooled = std::any_of(bands_.begin(), bands_.end(), [](const Band& band) {
      return band.cells.front().seen.rows != band.rows->size() ||
             band.cells.front().seen.columns != band.columns->size();
    });
    if (pooled) text = "Each tile is the largest weight of its part.";
    if (map_.maps.size() > kMostPanels)
      text += (text.empty() ? "" : " ") + std::to_string(map_.maps.size() - kMostPanels) +
              " more heads are not shown.";
    return text;
  }

 private:
  void add(const maps::Head& head) {
    const maps::Labels& rows = head.rows ? *head.rows : map_.rows;
    const maps::Labels& columns = head.columns ? *head.columns : map_.columns;
    if (rows.empty() || columns.empty()) return;
    if (!bands_.empty()) {
      Band& last = bands_.back();
      const maps::Head& before = *last.heads.back();
      if (before.part == head.part && before.layer == head.layer && *last.rows == rows &&
          *last.columns == columns) {
        last.heads.push_back(&head);
        return;
      }
    }
    bands_.push_back({{&head}, &rows, &columns, {}, false, 8.0, 0.0, 0.0, 0.0, 1});
  }

  void place(Canvas& canvas, Band& band) const {
    band.across = std::min(band.heads.size(), kMostAcross);
    const auto panels = static_cast<double>(std::min(map_.maps.size(), kMostPanels));
    const auto most_cells =
        static_cast<std::size_t>(std::clamp(std::sqrt(kMostRectangles / panels), 12.0, 64.0));
    const auto across = static_cast<double>(std::max<std::size_t>(band.across, 2));
    const auto size_for = [&](double left) {
      return std::min((width_ - left - kGap * (across - 1.0)) / across, 220.0);
    };
    const std::size_t longer = std::max(band.rows->size(), band.columns->size());
    // Words beside the matrices as long as they can be read.
    double side = size_for(kLongestLabel);
    band.words = side / static_cast<double>(longer) >= 9.0;
    if (!band.words) side = size_for(0.0);
    for (const maps::Head* head : band.heads)
      band.cells.push_back(
          make_cells(head->weights, canvas, std::max(side, 24.0), 1.0, 22.0, most_cells));
    band.panel = band.cells.front().width();
    if (band.words) {
      band.font = std::clamp(band.cells.front().cell * 0.7, 7.0, 10.0);
      band.left = longest(canvas, *band.rows, band.font) + 5.0;
      band.above = longest(canvas, *band.columns, band.font) + 5.0;
    }
    // A name needs some room over a small matrix.
    band.panel = std::max(band.panel, 38.0);
  }

  static double longest(Canvas& canvas, const maps::Labels& labels, double size) {
    return std::ceil(widest_label(canvas, labels, {.size = size, .limit = kLongestLabel}));
  }

  void paint_band(Canvas& canvas, const Band& band, double x, double y) const {
    const maps::Head& first = *band.heads.front();
    canvas.text(x, y + 8.0, first.part + ", layer " + std::to_string(first.layer),
                {.size = 11.0, .bold = true});
    for (std::size_t i = 0; i < band.heads.size(); ++i) {
      const std::size_t column = i % band.across;
      const std::size_t row = i / band.across;
      const double left = x + band.left + static_cast<double>(column) * (band.panel + kGap);
      const double top = y + kBandName + static_cast<double>(row) * band.row_height();
      canvas.text(left, top + 5.0, "head " + std::to_string(band.heads[i]->head),
                  {.size = 9.5, .colour = kMuted, .limit = band.panel});
      const double corner = top + kHeadName + band.above;
      paint_cells(canvas, band.cells[i], left, corner, top_);
      canvas.outline({left - 0.5, corner - 0.5, band.cells[i].width() + 1.0 - band.cells[i].gap,
                      band.cells[i].height() + 1.0 - band.cells[i].gap},
                     {.colour = kRule, .width = 0.75});
      if (band.words) paint_words(canvas, band, left, corner, column == 0);
    }
  }

  static void paint_words(Canvas& canvas, const Band& band, double left, double top,
                          bool with_rows) {
    const Cells& cells = band.cells.front();
    const double half = (cells.cell - cells.gap) / 2.0;
    for (std::size_t i = 0; i < band.columns->size(); ++i)
      canvas.text(left + static_cast<double>(i) * cells.cell + half, top - 4.0,
                  (*band.columns)[i],
                  {.size = band.font, .limit = kLongestLabel, .degrees = -90.0});
    if (!with_rows) return;
    for (std::size_t i = 0; i < band.rows->size(); ++i)
      canvas.text(left - 5.0, top + static_cast<double>(i) * cells.cell + half, (*band.rows)[i],
                  {.size = band.font, .anchor = Anchor::right, .limit = kLongestLabel});
  }

  const maps::Heads& map_;
  double width_;
  float top_ = 1.0f;
  std::vector<Band> bands_;
};

bool has_cells(const maps::Heads& map) {
  return std::any_of(map.maps.begin(), map.maps.end(),
                     [](const maps::Head& head) { return !head.weights.values.empty(); });
}

}  // namespace

std::unique_ptr<Figure> figure_of(const maps::Heads& map, double width) {
  if (!has_cells(map)) return empty_figure(std::to_string(map.maps.size()) + " heads");
  if (map.maps.size() == 1) {
    const maps::Head& head = map.maps.front();
    const std::string name = head.part + ", layer " + std::to_string(head.layer) + ", head " +
                             std::to_string(head.head);
    return matrix_figure({&head.weights, head.rows ? &*head.rows : &map.rows,
                          head.columns ? &*head.columns : &map.columns, "", name},
                         width);
  }
  return std::make_unique<HeadsFigure>(map, width);
}

}  // namespace attn::drawing
