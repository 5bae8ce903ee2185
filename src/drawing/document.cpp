// Draws a text whose words and sentences are shaded by their weights.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/maps/colour.hpp"
#include "attn/maps/map.hpp"
#include "drawing/canvas.hpp"
#include "drawing/figure.hpp"
#include "drawing/matrix.hpp"

namespace attn::drawing {
namespace {

constexpr std::size_t kMostWords = 4000;
constexpr double kFont = 13.0;
constexpr double kLine = 25.0;
constexpr double kWordHeight = 21.0;
constexpr double kPadding = 4.0;
constexpr double kSpace = 4.0;
constexpr double kSentenceGap = 8.0;
constexpr double kBarRoom = 64.0;  ///< the sentence's bar and its weight
constexpr std::string_view kSpaceMark = "▁";

struct Placed {
  std::string text;
  float weight;
  double x;  ///< from the beginning of the line
  double y;
  double width;
};

struct Part {
  float weight;
  double y;
  double height;
  std::vector<Placed> words;
};

class DocumentFigure final : public Figure {
 public:
  DocumentFigure(const maps::Document& map, double width)
      : map_(map), width_(width), levels_(map.sentences.size() > 1) {
    float largest = 0.0f;
    float largest_sentence = 0.0f;
    for (const maps::Sentence& sentence : map.sentences) {
      largest_sentence = std::max(largest_sentence, sentence.weight);
      for (const maps::Word& word : sentence.words) {
        largest = std::max(largest, word.weight);
        pieces_ = pieces_ || word.text.starts_with(kSpaceMark);
      }
    }
    top_ = maps::top_of(largest);
    sentence_top_ = maps::top_of(largest_sentence);
  }

  Size layout(Canvas& canvas) override {
    const double room = width_ - (levels_ ? kBarRoom : 0.0);
    std::size_t count = 0;
    double y = 0.0;
    for (const maps::Sentence& sentence : map_.sentences) {
      if (sentence.words.empty() || count == kMostWords) continue;
      Part part{sentence.weight, y, 0.0, {}};
      double x = 0.0;
      double line = 0.0;
      std::string joined;
      for (const maps::Word& word : sentence.words) {
        if (count == kMostWords) break;
        ++count;
        const bool joins = pieces_ && !word.text.starts_with(kSpaceMark);
        const std::string text = shown(word.text);
        const double wide =
            std::min(canvas.measure(text, style()).width, room - 2 * kPadding) + 2.0 * kPadding;
        if (x > 0.0) x += joins ? 1.0 : kSpace;
        if (x > 0.0 && x + wide > room) {
          x = 0.0;
          line += kLine;
        }
        part.words.push_back({text, word.weight, x, line, wide});
        x += wide;
        if (joined.size() < 200) joined += ' ' + text;
      }
      part.height = line + kLine;
      // A script that runs from right to left fills its lines that way.
      if (canvas.runs_left(joined))
        for (Placed& word : part.words) word.x = room - word.x - word.width;
      y += part.height + (levels_ ? kSentenceGap : 0.0);
      parts_.push_back(std::move(part));
    }
    left_out_ = 0;
    for (const maps::Sentence& sentence : map_.sentences) left_out_ += sentence.words.size();
    left_out_ -= count;
    height_ = y + 6.0;
    return {width_, height_ + kBarHeight};
  }

  void paint(Canvas& canvas, double x, double y) override {
    const double left = x + (levels_ ? kBarRoom : 0.0);
    for (const Part& part : parts_) {
      if (levels_) paint_sentence(canvas, part, x, y + part.y);
      for (const Placed& word : part.words) {
        const Rgb background = maps::colour_of(word.weight, top_);
        const double top = y + part.y + word.y + (kLine - kWordHeight) / 2.0;
        canvas.fill_rounded({left + word.x, top, word.width, kWordHeight}, 3.0, background);
        TextStyle word_style = style();
        word_style.anchor = Anchor::centre;
        word_style.limit = word.width - 2.0 * kPadding + 0.5;
        word_style.colour = maps::text_on(background);
        canvas.text(left + word.x + word.width / 2.0, top + kWordHeight / 2.0, word.text,
                    word_style);
      }
    }
    paint_bar(canvas, x, y + height_, top_);
  }

  std::string remark() const override {
    std::string text;
    if (levels_)
      text = "The bar beside a sentence is the sentence's own weight (full length: " +
             number_text(sentence_top_) + ").";
    if (left_out_ > 0)
      text +=
          (text.empty() ? "" : " ") + std::to_string(left_out_) + " more words are not shown.";
    return text;
  }

 private:
  static TextStyle style() { return {.size = kFont}; }

  std::string shown(const std::string& text) const {
    return pieces_ && text.starts_with(kSpaceMark) ? text.substr(kSpaceMark.size()) : text;
  }

  void paint_sentence(Canvas& canvas, const Part& part, double x, double y) const {
    constexpr double kFull = 48.0;
    const double share = std::min(part.weight / sentence_top_, 1.0f);
    const double middle = y + kLine / 2.0;
    canvas.fill({x, middle - 1.0, kFull, 6.0}, maps::colour_of(0.0f));
    canvas.fill({x, middle - 1.0, kFull * share, 6.0}, maps::colour_of(0.8f));
    canvas.text(x, middle - 7.0, number_text(std::round(part.weight * 1000.0) / 1000.0),
                {.size = 9.5, .colour = kMuted, .limit = kFull});
    canvas.line(x + kBarRoom - 9.0, y + 2.0, x + kBarRoom - 9.0, y + part.height - 2.0,
                {.colour = kRule, .width = 1.0});
  }

  const maps::Document& map_;
  double width_;
  bool levels_;
  bool pieces_ = false;  ///< subwords, of which some join the one before
  float top_ = 1.0f;
  float sentence_top_ = 1.0f;
  std::vector<Part> parts_;
  double height_ = 0.0;
  std::size_t left_out_ = 0;
};

}  // namespace

std::unique_ptr<Figure> figure_of(const maps::Document& map, double width) {
  if (std::all_of(map.sentences.begin(), map.sentences.end(),
                  [](const maps::Sentence& sentence) { return sentence.words.empty(); }))
    return empty_figure("no sentence has a word");
  return std::make_unique<DocumentFigure>(map, width);
}

}  // namespace attn::drawing
