// Draws a tree over a sentence: words in a row with arcs above them, or, where they do not fit,
// one below the other with brackets beside them.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "attn/maps/arc_levels.hpp"
#include "attn/maps/map.hpp"
#include "attn/maps/text_width.hpp"
#include "drawing/canvas.hpp"
#include "drawing/figure.hpp"

namespace attn::drawing {
namespace {

constexpr std::size_t kMostWords = 400;
constexpr double kFont = 13.0;
constexpr double kSmall = 10.0;
constexpr double kRadius = 9.0;
constexpr double kArrow = 6.0;
constexpr Rgb kArc{70, 96, 168};
constexpr Rgb kUnsure{200, 120, 40};
/// An arc that is less likely is drawn as one that may be wrong.
constexpr float kSure = 0.5f;

TextStyle word_style(Anchor anchor) {
  return {.size = kFont, .anchor = anchor};
}
TextStyle tag_style(Anchor anchor) {
  return {.size = kSmall, .colour = kMuted, .anchor = anchor};
}
TextStyle label_style(Anchor anchor, Rgb colour = kInk) {
  return {.size = kSmall, .colour = colour, .anchor = anchor};
}

/// Corners of a line, rounded.
struct Path {
  std::vector<double> x;
  std::vector<double> y;

  void to(double px, double py) {
    x.push_back(px);
    y.push_back(py);
  }
  /// A quarter of a circle about (cx, cy) from one angle to the other.
  void turn(double cx, double cy, double radius, double from, double to_angle) {
    constexpr int kSteps = 8;
    for (int i = 0; i <= kSteps; ++i) {
      const double angle = from + (to_angle - from) * i / kSteps;
      to(cx + radius * std::cos(angle), cy + radius * std::sin(angle));
    }
  }
};

constexpr double kPi = std::numbers::pi;

class ArcsFigure : public Figure {
 public:
  explicit ArcsFigure(const maps::Arcs& map)
      : map_(map),
        count_(std::min(map.words.size(), kMostWords)),
        levels_(maps::arc_levels(map, count_)),
        highest_(levels_.empty() ? 0 : *std::max_element(levels_.begin(), levels_.end())) {
    for (const maps::Arc& arc : map.arcs) unsure_ = unsure_ || arc.weight < kSure;
  }

  std::string remark() const override {
    std::string text;
    if (unsure_) text = "Dashed arcs are less likely than one half.";
    if (count_ < map_.words.size())
      text += (text.empty() ? "" : " ") + std::to_string(map_.words.size() - count_) +
              " more words are not shown.";
    return text;
  }

 protected:
  static Pen pen_of(const maps::Arc& arc) {
    if (arc.weight >= kSure) return {.colour = kArc, .width = 1.3};
    return {.colour = kUnsure, .width = 1.3, .dashes = {4.0, 3.0}};
  }
  static Rgb colour_of(const maps::Arc& arc) { return arc.weight >= kSure ? kInk : kUnsure; }

  static std::string text_of(const std::string& label) { return maps::on_one_line(label); }

  const maps::Arcs& map_;
  std::size_t count_;
  std::vector<std::size_t> levels_;
  std::size_t highest_;
  bool unsure_ = false;
};

/// Words side by side.
class RowFigure final : public ArcsFigure {
 public:
  using ArcsFigure::ArcsFigure;

  Size layout(Canvas& canvas) override {
    std::vector<double> half(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      half[i] = canvas.measure(text_of(map_.words[i]), word_style(Anchor::left)).width / 2.0;
      if (!map_.tags.empty())
        half[i] = std::max(
            half[i],
            canvas.measure(text_of(map_.tags[i]), tag_style(Anchor::left)).width / 2.0);
    }
    centres_.assign(count_, 0.0);
    for (std::size_t i = 0; i < count_; ++i)
      centres_[i] = i == 0 ? half[0] : centres_[i - 1] + half[i - 1] + half[i] + kBetween;
    // Labels need room, short arcs first, since theirs is room of the longer ones, too.
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < map_.arcs.size(); ++i)
      if (levels_[i] > 0) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return levels_[a] < levels_[b]; });
    for (const std::size_t i : order) {
      const auto [left, right] = ends(map_.arcs[i]);
      const double need =
          canvas.measure(text_of(map_.arcs[i].label), label_style(Anchor::left)).width +
          2.0 * kRadius + 2.0 * kAside;
      const double lack = need - (centres_[right] - centres_[left]);
      if (lack <= 0.0) continue;
      for (std::size_t word = left + 1; word < count_; ++word)
        centres_[word] += lack * static_cast<double>(std::min(word, right) - left) /
                          static_cast<double>(right - left);
    }
    height_ = kRoot + static_cast<double>(highest_) * kLevel + kFoot;
    return {count_ == 0 ? 0.0 : centres_.back() + half.back(),
            height_ + kFont + 8.0 + (map_.tags.empty() ? 0.0 : kSmall + 8.0)};
  }

  void paint(Canvas& canvas, double x, double y) override {
    const double foot = y + height_;
    // High ones first: the label of a lower one covers what runs behind it.
    std::vector<std::size_t> order(map_.arcs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return levels_[a] > levels_[b]; });
    for (const std::size_t i : order) paint_line(canvas, i, x, y, foot);
    for (const std::size_t i : order) paint_label(canvas, i, x, foot);
    for (std::size_t i = 0; i < count_; ++i) {
      canvas.text(x + centres_[i], foot + kFont / 2.0 + 4.0, text_of(map_.words[i]),
                  word_style(Anchor::centre));
      if (!map_.tags.empty())
        canvas.text(x + centres_[i], foot + kFont + kSmall / 2.0 + 9.0, text_of(map_.tags[i]),
                    tag_style(Anchor::centre));
    }
  }

 private:
  static constexpr double kBetween = 14.0;
  static constexpr double kLevel = 21.0;
  static constexpr double kFoot = 12.0;
  static constexpr double kRoot = 20.0;  ///< above all, where the root's arrow begins
  static constexpr double kAside = 4.0;  ///< arcs leave a word beside the one that comes in

  struct Ends {
    std::size_t left;
    std::size_t right;
  };
  static Ends ends(const maps::Arc& arc) {
    return {std::min(arc.head, arc.dependent) - 1, std::max(arc.head, arc.dependent) - 1};
  }

  double top_of(std::size_t arc, double foot) const {
    return foot - kFoot - static_cast<double>(levels_[arc]) * kLevel + kLevel / 2.0;
  }

  double begin_of(const maps::Arc& arc) const {
    return centres_[arc.head - 1] + (arc.dependent > arc.head ? kAside : -kAside);
  }

  void paint_line(Canvas& canvas, std::size_t i, double x, double y, double foot) const {
    const maps::Arc& arc = map_.arcs[i];
    if (arc.dependent > count_ || arc.head > count_) return;
    const double end = x + centres_[arc.dependent - 1];
    const Pen pen = pen_of(arc);
    if (arc.head == 0) {
      canvas.line(end, y + kSmall + 6.0, end, foot - kArrow, pen);
      arrow(canvas, end, foot, pen.colour);
      return;
    }
    const double begin = x + begin_of(arc);
    const double top = top_of(i, foot);
    const double radius = std::min(kRadius, std::abs(end - begin) / 2.0);
    Path path;
    path.to(begin, foot);
    if (end > begin) {
      path.turn(begin + radius, top + radius, radius, kPi, 1.5 * kPi);
      path.turn(end - radius, top + radius, radius, 1.5 * kPi, 2.0 * kPi);
    } else {
      path.turn(begin - radius, top + radius, radius, 0.0, -0.5 * kPi);
      path.turn(end + radius, top + radius, radius, -0.5 * kPi, -kPi);
    }
    path.to(end, foot - kArrow);
    canvas.polyline(path.x, path.y, pen);
    arrow(canvas, end, foot, pen.colour);
  }

  /// Points down at (x, y).
  static void arrow(Canvas& canvas, double x, double y, Rgb colour) {
    canvas.triangle(x, y, -kArrow, colour);
  }

  void paint_label(Canvas& canvas, std::size_t i, double x, double foot) const {
    const maps::Arc& arc = map_.arcs[i];
    if (arc.dependent > count_ || arc.head > count_) return;
    const std::string label = text_of(arc.label);
    const bool root = arc.head == 0;
    const double middle = x + (root ? centres_[arc.dependent - 1]
                                    : (begin_of(arc) + centres_[arc.dependent - 1]) / 2.0);
    const double line = root ? foot - height_ + kSmall / 2.0 : top_of(i, foot);
    const double wide = canvas.measure(label, label_style(Anchor::left)).width;
    if (!label.empty() && !root)
      canvas.fill({middle - wide / 2.0 - 2.0, line - kSmall / 2.0, wide + 4.0, kSmall}, kPaper);
    canvas.text(middle, line, label, label_style(Anchor::centre, colour_of(arc)));
  }

  std::vector<double> centres_;
  double height_ = 0.0;
};

/// One word below the other.
class ColumnFigure final : public ArcsFigure {
 public:
  ColumnFigure(const maps::Arcs& map, double width) : ArcsFigure(map), width_(width) {}

  Size layout(Canvas& canvas) override {
    const auto widest = [&](const std::string& text, const TextStyle& style, double& width) {
      width = std::max(width, std::min(canvas.measure(text_of(text), style).width, kWidest));
    };
    for (std::size_t i = 0; i < count_; ++i) {
      widest(map_.words[i], word_style(Anchor::left), word_);
      if (!map_.tags.empty()) widest(map_.tags[i], tag_style(Anchor::left), tag_);
    }
    for (const maps::Arc& arc : map_.arcs) widest(arc.label, label_style(Anchor::left), label_);
    left_ = word_ + kGap + (tag_ > 0.0 ? tag_ + kGap : 0.0) + label_ + kGap;
    // Many levels stand closer.
    const double room = width_ - left_ - kArrow - kGap;
    step_ = std::clamp(room / static_cast<double>(std::max<std::size_t>(1, highest_)),
                       kLeastStep, kStep);
    return {left_ + kArrow + static_cast<double>(highest_) * step_ + kGap,
            static_cast<double>(count_) * kRow};
  }

  void paint(Canvas& canvas, double x, double y) override {
    for (std::size_t i = 0; i < count_; ++i) {
      const double middle = row(y, i + 1);
      TextStyle word = word_style(Anchor::left);
      word.limit = word_ + 0.5;
      canvas.text(x, middle, text_of(map_.words[i]), word);
      if (!map_.tags.empty())
        canvas.text(x + word_ + kGap, middle, text_of(map_.tags[i]), tag_style(Anchor::left));
    }
    for (std::size_t i = 0; i < map_.arcs.size(); ++i) paint_arc(canvas, i, x, y);
  }

 private:
  static constexpr double kRow = 19.0;
  static constexpr double kGap = 12.0;
  static constexpr double kStep = 13.0;
  static constexpr double kLeastStep = 3.0;
  static constexpr double kWidest = 180.0;
  static constexpr double kCorner = 4.0;

  static double row(double y, std::size_t word) {
    return y + (static_cast<double>(word) - 0.5) * kRow;
  }

  void paint_arc(Canvas& canvas, std::size_t i, double x, double y) const {
    const maps::Arc& arc = map_.arcs[i];
    if (arc.dependent > count_ || arc.head > count_) return;
    const double end = row(y, arc.dependent);
    TextStyle style = label_style(Anchor::left, colour_of(arc));
    style.limit = label_ + 0.5;
    canvas.text(x + left_ - label_ - kGap, end, text_of(arc.label), style);
    if (arc.head == 0) return;
    const Pen pen = pen_of(arc);
    // What leaves a word does so beside what comes in.
    const double begin = row(y, arc.head) + (end > row(y, arc.head) ? 3.0 : -3.0);
    const double from = x + left_;
    const double side = from + kArrow + static_cast<double>(levels_[i]) * step_;
    Path path;
    path.to(from, begin);
    if (end > begin) {
      path.turn(side - kCorner, begin + kCorner, kCorner, -0.5 * kPi, 0.0);
      path.turn(side - kCorner, end - kCorner, kCorner, 0.0, 0.5 * kPi);
    } else {
      path.turn(side - kCorner, begin - kCorner, kCorner, 0.5 * kPi, 0.0);
      path.turn(side - kCorner, end + kCorner, kCorner, 0.0, -0.5 * kPi);
    }
    path.to(from + kArrow, end);
    canvas.polyline(path.x, path.y, pen);
    const std::vector<double> tip_x{from + kArrow, from, from + kArrow};
    const std::vector<double> tip_y{end - kArrow / 2.0, end, end + kArrow / 2.0};
    canvas.polyline(tip_x, tip_y, {.colour = pen.colour, .width = 1.3});
  }

  double width_;
  double step_ = kStep;
  double word_ = 0.0;
  double tag_ = 0.0;
  double label_ = 0.0;
  double left_ = 0.0;
};

/// In a row where that is not too wide.
class EitherFigure final : public Figure {
 public:
  EitherFigure(const maps::Arcs& map, double width)
      : map_(map), width_(width), figure_(std::make_unique<RowFigure>(map)) {}

  Size layout(Canvas& canvas) override {
    const Size size = figure_->layout(canvas);
    if (size.width <= kWiden * width_) return size;
    figure_ = std::make_unique<ColumnFigure>(map_, width_);
    return figure_->layout(canvas);
  }
  void paint(Canvas& canvas, double x, double y) override { figure_->paint(canvas, x, y); }
  std::string remark() const override { return figure_->remark(); }

 private:
  /// A row is what readers of trees know, so the picture becomes somewhat wider for it.
  static constexpr double kWiden = 1.6;

  const maps::Arcs& map_;
  double width_;
  std::unique_ptr<Figure> figure_;
};

}  // namespace

std::unique_ptr<Figure> figure_of(const maps::Arcs& map, double width) {
  if (map.words.empty()) return empty_figure("the sentence has no words");
  return std::make_unique<EitherFigure>(map, width);
}

}  // namespace attn::drawing
