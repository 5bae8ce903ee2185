// Draws a sound as its words: the spectrogram, and below it a row for each word.

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

constexpr double kSoundHeight = 96.0;
constexpr double kRow = 15.0;
constexpr double kGap = 8.0;
constexpr double kTicks = 20.0;
constexpr double kToBar = 8.0;
constexpr double kFont = 10.0;
constexpr double kLongestWord = 110.0;
/// More words would make a sheet that no screen shows.
constexpr std::size_t kMostWords = 160;
/// Columns that a picture holds; more are pooled.
constexpr std::size_t kMostColumns = 1500;

std::uint32_t packed(Rgb colour) {
  return static_cast<std::uint32_t>(colour.red) << 16 |
         static_cast<std::uint32_t>(colour.green) << 8 | colour.blue;
}

/// Loud is dark.
Rgb loudness(float value) {
  const auto grey =
      static_cast<std::uint8_t>(std::lround(255.0f - 215.0f * std::clamp(value, 0.0f, 1.0f)));
  return {grey, grey, grey};
}

/// Seconds between ticks, so that there are no more than ten.
double tick_step(double seconds) {
  double step = 0.1;
  for (const double wider : {0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 300.0, 3600.0})
    if (seconds / step > 10.0) step = wider;
  return step;
}

class SpeechFigure final : public Figure {
 public:
  SpeechFigure(const maps::Speech& map, double width)
      : map_(map),
        width_(width),
        count_(std::min(map.words.size(), kMostWords)),
        seen_(maps::pooled(map.weights, std::max<std::size_t>(map.weights.rows, 1),
                           kMostColumns)),
        sound_(maps::pooled(map.spectrogram, std::max<std::size_t>(map.spectrogram.rows, 1),
                            kMostColumns)),
        top_(maps::top_of(map.weights)) {}

  Size layout(Canvas& canvas) override {
    double widest = 40.0;
    for (std::size_t i = 0; i < count_; ++i)
      widest = std::max(
          widest, canvas.measure(map_.words[i], {.size = kFont, .limit = kLongestWord}).width);
    left_ = std::ceil(widest + 8.0);
    across_ = std::max(width_ - left_, 200.0);
    return {left_ + across_, kSoundHeight + kGap + static_cast<double>(count_) * kRow + kTicks +
                                 kToBar + kBarHeight};
  }

  void paint(Canvas& canvas, double x, double y) override {
    const double left = x + left_;
    paint_sound(canvas, left, y);
    const double top = y + kSoundHeight + kGap;
    paint_weights(canvas, left, top);
    const double bottom = top + static_cast<double>(count_) * kRow;
    paint_ticks(canvas, left, bottom);
    paint_bar(canvas, left, bottom + kTicks + kToBar, top_);
  }

  std::string remark() const override {
    if (count_ == map_.words.size()) return "";
    return "Of " + std::to_string(map_.words.size()) + " words the first " +
           std::to_string(count_) + " are shown.";
  }

 private:
  double at(double seconds, double left) const {
    const double share = map_.seconds > 0.0 ? (seconds - map_.begin) / map_.seconds : 0.0;
    return left + across_ * std::clamp(share, 0.0, 1.0);
  }

  void paint_sound(Canvas& canvas, double left, double top) const {
    const Rect rect{left, top, across_, kSoundHeight};
    Pixels pixels{sound_.columns, sound_.rows, {}};
    for (const float value : sound_.values) pixels.values.push_back(packed(loudness(value)));
    if (!pixels.values.empty()) canvas.image(rect, pixels);
    canvas.outline(rect, {.colour = kRule});
    const TextStyle style{.size = kFont, .colour = kMuted, .anchor = Anchor::right};
    canvas.text(left - 6.0, top + 5.0, number_text(map_.hertz / 1000.0) + " kHz", style);
    canvas.text(left - 6.0, top + kSoundHeight - 5.0, "0", style);
  }

  void paint_weights(Canvas& canvas, double left, double top) const {
    const Rect rect{left, top, across_, static_cast<double>(count_) * kRow};
    Pixels pixels{seen_.columns, count_, {}};
    for (std::size_t row = 0; row < count_; ++row)
      for (std::size_t column = 0; column < seen_.columns; ++column)
        pixels.values.push_back(packed(maps::colour_of(seen_.at(row, column), top_)));
    if (!pixels.values.empty()) canvas.image(rect, pixels);
    canvas.outline(rect, {.colour = kRule});
    for (std::size_t i = 0; i < count_; ++i) {
      const double row = top + static_cast<double>(i) * kRow;
      canvas.text(left - 6.0, row + kRow / 2.0, map_.words[i],
                  {.size = kFont, .anchor = Anchor::right, .limit = kLongestWord});
      const double begin = at(map_.begins[i], left);
      const double end = std::max(at(map_.ends[i], left), begin + 1.0);
      canvas.outline({begin, row + 1.5, end - begin, kRow - 3.0},
                     {.colour = {214, 94, 0}, .width = 1.0});
    }
  }

  void paint_ticks(Canvas& canvas, double left, double top) const {
    const double step = tick_step(map_.seconds);
    for (double i = std::ceil(map_.begin / step); i * step <= map_.begin + map_.seconds;
         i += 1.0) {
      const double place = at(i * step, left);
      canvas.line(place, top + 1.0, place, top + 4.0, {.colour = kMuted, .width = 0.75});
      canvas.text(place, top + 12.0, number_text(std::round(i * step * 10.0) / 10.0) + " s",
                  {.size = kFont, .colour = kMuted, .anchor = Anchor::centre});
    }
  }

  const maps::Speech& map_;
  double width_;
  std::size_t count_;  ///< of words that are drawn
  maps::Matrix seen_;
  maps::Matrix sound_;
  float top_;
  double left_ = 0.0;
  double across_ = 0.0;
};

}  // namespace

std::unique_ptr<Figure> figure_of(const maps::Speech& map, double width) {
  if (map.words.empty() || map.weights.columns == 0) return empty_figure("no words were heard");
  return std::make_unique<SpeechFigure>(map, width);
}

}  // namespace attn::drawing
