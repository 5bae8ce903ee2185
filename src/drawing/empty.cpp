// Draws the sentence that stands for a map without content.

// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <utility>

#include "drawing/canvas.hpp"
#include "drawing/figure.hpp"

namespace attn::drawing {
namespace {

class EmptyFigure final : public Figure {
 public:
  explicit EmptyFigure(std::string why) : why_(std::move(why)) {}

  Size layout(Canvas&) override { return {kWidth, kHeight}; }

  void paint(Canvas& canvas, double x, double y) override {
    canvas.outline({x + 0.5, y + 0.5, kWidth - 1.0, kHeight - 1.0},
                   {.colour = kRule, .width = 1.0, .dashes = {4.0, 4.0}});
    const double middle = x + kWidth / 2.0;
    canvas.text(middle, y + kHeight / 2.0 - 8.0, "Nothing to show",
                {.size = 12.0, .colour = kMuted, .anchor = Anchor::centre});
    canvas.text(middle, y + kHeight / 2.0 + 10.0, why_,
                {.size = 10.0, .colour = kMuted, .anchor = Anchor::centre, .limit = kWidth});
  }

 private:
  static constexpr double kWidth = 300.0;
  static constexpr double kHeight = 110.0;
  std::string why_;
};

}  // namespace

std::unique_ptr<Figure> empty_figure(std::string why) {
  return std::make_unique<EmptyFigure>(std::move(why));
}

}  // namespace attn::drawing
