// Draws a picture once for each step, with the weights of the step laid over it.

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
#include "drawing/overlay.hpp"

namespace attn::drawing {
namespace {

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
