// Draws a picture once for each step, with the weights of the step laid over it.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attn/maps/colour.hpp"
#include "attn/maps/map.hpp"
#include "attn/maps/pooled.hpp"
#include "drawing/canvas.hpp"
#include "drawing/figure.hpp"
#include "drawing/matrix.hpp"

namespace attn::drawing {
namespace {

/// Told from blue and from every grey by all kinds of eyes.
constexpr Rgb kOverlay{255, 130, 0};

/// Pixels along the longer side of a panel: sharp on paper, small in a file.
constexpr std::size_t kPanelPixels = 384;
/// The picture still shows through the strongest weight.
constexpr float kStrongest = 0.8f;

/// The mean of a block of the picture.
Rgb mean_of(const maps::Image& image, std::size_t row, std::size_t row_end, std::size_t column,
            std::size_t column_end) {
  std::uint64_t total[3] = {0, 0, 0};
  for (std::size_t y = row; y < row_end; ++y)
    for (std::size_t x = column; x < column_end; ++x)
      for (std::size_t c = 0; c < 3; ++c)
        total[c] +=
            image
                .pixels[(y * image.width + x) * image.channels + (image.channels == 3 ? c : 0)];
  const std::uint64_t count = (row_end - row) * (column_end - column);
  return {static_cast<std::uint8_t>(total[0] / count),
          static_cast<std::uint8_t>(total[1] / count),
          static_cast<std::uint8_t>(total[2] / count)};
}

/// Between the middles of cells; the outermost reach to the border.
struct Between {
  std::size_t low;
  std::size_t high;
  float share;  ///< of `high`

  Between(double place, std::size_t cells) {
    const double at = std::clamp(place * static_cast<double>(cells) - 0.5, 0.0,
                                 static_cast<double>(cells - 1));
    low = static_cast<std::size_t>(at);
    high = std::min(low + 1, cells - 1);
    share = static_cast<float>(at - static_cast<double>(low));
  }
};

float smooth(const maps::Matrix& grid, const Between& y, const Between& x) {
  const float above =
      grid.at(y.low, x.low) * (1.0f - x.share) + grid.at(y.low, x.high) * x.share;
  const float below =
      grid.at(y.high, x.low) * (1.0f - x.share) + grid.at(y.high, x.high) * x.share;
  return above * (1.0f - y.share) + below * y.share;
}

/// `under` with the overlay at a share of 0..1.
Rgb mixed(Rgb under, float share) {
  // A place of many has a small weight; the root keeps it in sight.
  const float part = kStrongest * std::sqrt(std::clamp(share, 0.0f, 1.0f));
  const auto mix = [&](std::uint8_t below, std::uint8_t over) {
    return static_cast<std::uint8_t>(std::lround(static_cast<float>(below) * (1.0f - part) +
                                                 static_cast<float>(over) * part));
  };
  return {mix(under.red, kOverlay.red), mix(under.green, kOverlay.green),
          mix(under.blue, kOverlay.blue)};
}

/// The picture at a size for a panel, its pixels as sharp squares where it is small. The grid
/// (none: the picture alone) runs smoothly from the middle of one cell to that of the next.
Pixels blended(const maps::Image& image, const maps::Matrix* grid, float top) {
  // A small picture grows by a whole factor, a large one shrinks by means of blocks.
  const std::size_t longer = std::max(image.width, image.height);
  const std::size_t factor = std::max<std::size_t>(1, kPanelPixels / longer);
  const double shrink =
      std::min(1.0, static_cast<double>(kPanelPixels) / static_cast<double>(longer));
  const auto blocks = [&](std::size_t side) {
    return std::max<std::size_t>(
        1, static_cast<std::size_t>(std::lround(static_cast<double>(side) * shrink)));
  };
  const std::size_t rows = blocks(image.height);
  const std::size_t columns = blocks(image.width);
  Pixels pixels{columns * factor, rows * factor, {}};
  pixels.values.reserve(pixels.width * pixels.height);
  for (std::size_t y = 0; y < pixels.height; ++y) {
    const std::size_t row = y / factor;
    for (std::size_t x = 0; x < pixels.width; ++x) {
      const std::size_t column = x / factor;
      Rgb colour = mean_of(image, maps::block_begin(row, rows, image.height),
                           maps::block_begin(row + 1, rows, image.height),
                           maps::block_begin(column, columns, image.width),
                           maps::block_begin(column + 1, columns, image.width));
      if (grid != nullptr) {
        const Between down((static_cast<double>(y) + 0.5) / static_cast<double>(pixels.height),
                           grid->rows);
        const Between across((static_cast<double>(x) + 0.5) / static_cast<double>(pixels.width),
                             grid->columns);
        colour = mixed(colour, smooth(*grid, down, across) / top);
      }
      pixels.values.push_back(static_cast<std::uint32_t>(colour.red) << 16 |
                              static_cast<std::uint32_t>(colour.green) << 8 | colour.blue);
    }
  }
  return pixels;
}

constexpr std::size_t kMostPanels = 60;
constexpr double kLabel = 22.0;
constexpr double kGap = 14.0;
constexpr double kLegendRoom = 26.0;

class ImageFigure final : public Figure {
 public:
  ImageFigure(const maps::Image& map, double width)
      : map_(map), width_(width), count_(1 + std::min(map.steps.size(), kMostPanels - 1)) {
    float largest = 0.0f;
    for (const maps::Step& step : map.steps) {
      if (step.grid)
        for (const float weight : step.grid->values) largest = std::max(largest, weight);
      grids_ = grids_ || step.grid;
    }
    top_ = maps::top_of(largest);
  }

  Size layout(Canvas&) override {
    // As many panels a row as there are, at sizes from a stamp to a quarter of the width.
    const double shape = static_cast<double>(map_.height) / static_cast<double>(map_.width);
    const double aim = count_ == 1   ? width_ * 0.6
                       : count_ <= 6 ? (width_ - 2 * kGap) / 3.0
                                     : (width_ - 3 * kGap) / 4.0;
    panel_.width = std::floor(std::min(aim, 420.0 / std::max(shape, 1e-3)));
    panel_.width = std::max(panel_.width, 40.0);
    panel_.height = std::max(std::floor(panel_.width * shape), 1.0);
    across_ = std::clamp<std::size_t>(
        static_cast<std::size_t>((width_ + kGap) / (panel_.width + kGap)), 1, count_);
    const std::size_t rows = (count_ + across_ - 1) / across_;
    return {static_cast<double>(across_) * (panel_.width + kGap) - kGap,
            static_cast<double>(rows) * (kLabel + panel_.height + kGap) - kGap +
                (grids_ ? kLegendRoom : 0.0)};
  }

  void paint(Canvas& canvas, double x, double y) override {
    double bottom = y;
    for (std::size_t i = 0; i < count_; ++i) {
      const double left = x + static_cast<double>(i % across_) * (panel_.width + kGap);
      const std::size_t row = i / across_;
      const double top =
          y + static_cast<double>(row) * (kLabel + panel_.height + kGap) + kLabel;
      const Rect rect{left, top, panel_.width, panel_.height};
      const maps::Step* step = i == 0 ? nullptr : &map_.steps[i - 1];
      const TextStyle style{.size = i == 0 ? 10.5 : 13.0,
                            .colour = i == 0 ? kMuted : kInk,
                            .limit = panel_.width,
                            .bold = i > 0};
      canvas.text(left, top - kLabel / 2.0,
                  step == nullptr       ? std::string("the picture")
                  : step->label.empty() ? std::string("(no word)")
                                        : step->label,
                  style);
      canvas.image(rect, blended(map_, step == nullptr ? nullptr : grid_of(*step), top_));
      if (step != nullptr) paint_boxes(canvas, *step, rect);
      if (step != nullptr) paint_path(canvas, *step, rect);
      canvas.outline({rect.x - 0.5, rect.y - 0.5, rect.width + 1.0, rect.height + 1.0},
                     {.colour = kRule});
      bottom = rect.bottom();
    }
    if (grids_) paint_overlay_bar(canvas, x, bottom + 10.0);
  }

  std::string remark() const override {
    const std::size_t left_out = map_.steps.size() + 1 - count_;
    return left_out > 0 ? std::to_string(left_out) + " more steps are not shown." : "";
  }

 private:
  static const maps::Matrix* grid_of(const maps::Step& step) {
    return step.grid && !step.grid->values.empty() ? &*step.grid : nullptr;
  }

  void paint_boxes(Canvas& canvas, const maps::Step& step, const Rect& rect) const {
    const double across = rect.width / static_cast<double>(map_.width);
    const double down = rect.height / static_cast<double>(map_.height);
    canvas.clip(rect);
    for (const maps::Box& box : step.boxes) {
      // Dark inside light: seen on any picture. Bolder for more weight.
      const Rect at{rect.x + std::clamp(box.x, -1e5, 1e5) * across,
                    rect.y + std::clamp(box.y, -1e5, 1e5) * down,
                    std::min(box.width, 1e5) * across, std::min(box.height, 1e5) * down};
      const double bold = 1.0 + 1.5 * (box.weight ? std::min(*box.weight, 1.0f) : 0.5f);
      canvas.outline(at, {.colour = kPaper, .width = bold + 2.0});
      canvas.outline(at, {.colour = kOverlay, .width = bold});
      std::string words = box.label;
      if (box.weight)
        words +=
            (words.empty() ? "" : " ") + number_text(std::round(*box.weight * 100.0) / 100.0);
      if (words.empty()) continue;
      const TextStyle style{.size = 9.5, .colour = kPaper, .limit = rect.width - 8.0};
      const double wide = canvas.measure(words, style).width + 6.0;
      // Above the box, or inside its top where the picture ends.
      const double top = at.y - 15.0 >= rect.y ? at.y - 15.0 : at.y + 1.5;
      const double left = std::clamp(at.x - 1.0, rect.x, std::max(rect.x, rect.right() - wide));
      canvas.fill_rounded({left, top, wide, 13.5}, 2.0, {176, 72, 0});
      canvas.text(left + 3.0, top + 6.75, words, style);
    }
    canvas.unclip();
  }

  /// A line from place to place, and on each the number of the look.
  void paint_path(Canvas& canvas, const maps::Step& step, const Rect& rect) const {
    if (step.path.empty()) return;
    const double across = rect.width / static_cast<double>(map_.width);
    const double down = rect.height / static_cast<double>(map_.height);
    std::vector<double> x;
    std::vector<double> y;
    for (const maps::Point& point : step.path) {
      // The middle of its pixel.
      x.push_back(rect.x + (std::clamp(point.x, -1e5, 1e5) + 0.5) * across);
      y.push_back(rect.y + (std::clamp(point.y, -1e5, 1e5) + 0.5) * down);
    }
    canvas.clip(rect);
    canvas.polyline(x, y, {.colour = kPaper, .width = 3.5});
    canvas.polyline(x, y, {.colour = kOverlay, .width = 1.5});
    // The first looks stand on top: later ones come back to a place more often than they leave
    // it.
    for (std::size_t i = x.size(); i-- > 0;) {
      canvas.dot(x[i], y[i], 6.0, kPaper);
      canvas.dot(x[i], y[i], 5.0, {176, 72, 0});
      canvas.text(x[i], y[i], std::to_string(i + 1),
                  {.size = 7.5, .colour = kPaper, .anchor = Anchor::centre, .bold = true});
    }
    canvas.unclip();
  }

  void paint_overlay_bar(Canvas& canvas, double x, double y) const {
    constexpr int kParts = 64;
    const double middle = y + kBarHeight / 2.0;
    const double begin = x + 14.0;
    canvas.text(x, middle, "0", {.size = 10.0, .colour = kMuted});
    for (int i = 0; i < kParts; ++i)
      canvas.fill({begin + 2.0 * i, middle - 5.0, i + 1 < kParts ? 2.5 : 2.0, 10.0},
                  mixed({190, 190, 190}, static_cast<float>(i) / (kParts - 1)));
    canvas.text(begin + 2.0 * kParts + 7.0, middle, number_text(top_) + " weight",
                {.size = 10.0, .colour = kMuted});
  }

  const maps::Image& map_;
  double width_;
  std::size_t count_;
  bool grids_ = false;
  float top_ = 1.0f;
  Size panel_;
  std::size_t across_ = 1;
};

}  // namespace

std::unique_ptr<Figure> figure_of(const maps::Image& map, double width) {
  if (map.width == 0 || map.height == 0)
    return empty_figure("an image of " + std::to_string(map.width) + " × " +
                        std::to_string(map.height));
  return std::make_unique<ImageFigure>(map, width);
}

}  // namespace attn::drawing
