/// What figures are drawn on: plain shapes and any text, through Cairo and Pango.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cairo.h>
#include <pango/pango.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/maps/colour.hpp"

namespace attn::drawing {

using maps::Rgb;

constexpr Rgb kInk{31, 36, 48};
constexpr Rgb kMuted{91, 98, 112};
constexpr Rgb kRule{222, 226, 232};
constexpr Rgb kPaper{255, 255, 255};

struct Size {
  double width = 0.0;
  double height = 0.0;
};

struct Rect {
  double x = 0.0;
  double y = 0.0;
  double width = 0.0;
  double height = 0.0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

/// Which point of a text is at the place given.
enum class Anchor { left, centre, right };

struct TextStyle {
  double size = 11.0;
  Rgb colour = kInk;
  Anchor anchor = Anchor::left;
  double limit = 0.0;    ///< wider text is cut with "…"; 0: no limit
  double degrees = 0.0;  ///< turned about the anchor, clockwise
  bool bold = false;
};

struct Pen {
  Rgb colour = kInk;
  double width = 1.0;
  std::vector<double> dashes = {};
  double alpha = 1.0;
};

/// An image of 0xXXRRGGBB, rows from the top.
struct Pixels {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<std::uint32_t> values;
};

class Canvas {
 public:
  /// `scale`: pixels a point of an image; 0 for vectors.
  Canvas(cairo_surface_t* surface, double scale);

  bool is_image() const { return scale_ > 0.0; }
  double scale() const { return scale_; }

  /// A rectangle with hard edges, so that neighbours show no seam.
  void fill(const Rect& rect, Rgb colour);
  void fill_rounded(const Rect& rect, double radius, Rgb colour);
  void outline(const Rect& rect, const Pen& pen);
  void line(double x0, double y0, double x1, double y1, const Pen& pen);
  void polyline(std::span<const double> x, std::span<const double> y, const Pen& pen);
  void dot(double x, double y, double radius, Rgb colour, double alpha = 1.0);
  void triangle(double x, double y, double size, Rgb colour);
  /// The head of an arrow that points from one place to another, its tip there.
  void arrow_head(double from_x, double from_y, double x, double y, double size, Rgb colour);
  void outline_rounded(const Rect& rect, double radius, const Pen& pen);
  /// Scaled to fill `rect`, each pixel a sharp square.
  void image(const Rect& rect, const Pixels& pixels);
  void clip(const Rect& rect);
  void unclip();

  /// One line. The height is that of the style's font, whatever script the text is in.
  Size measure(std::string_view text, const TextStyle& style);
  /// `y` is the middle of small letters with ascenders: a text and a cell at one y line up.
  void text(double x, double y, std::string_view text, const TextStyle& style);

  /// Several lines in `width`; the rest is cut with "…".
  double paragraph_height(std::string_view text, const TextStyle& style, double width);
  double paragraph(double x, double y, double width, std::string_view text,
                   const TextStyle& style);

  /// Whether the first strong letter is of a script that runs from right to left.
  bool runs_left(std::string_view text);

  /// The first text that was drawn with boxes, since no font here has its letters; "": none.
  const std::string& missing() const { return missing_; }

  cairo_t* context() const { return context_.get(); }

 private:
  struct Release {
    void operator()(cairo_t* context) const;
    void operator()(PangoLayout* layout) const;
  };
  using Layout = std::unique_ptr<PangoLayout, Release>;

  void source(Rgb colour, double alpha = 1.0);
  void rounded(const Rect& rect, double radius);
  void stroke(const Pen& pen);
  Layout one_line(std::string_view text, const TextStyle& style);
  Layout lines(std::string_view text, const TextStyle& style, double width);
  void show(PangoLayout* layout, std::string_view text);

  std::unique_ptr<cairo_t, Release> context_;
  double scale_;
  std::string missing_;
};

}  // namespace attn::drawing
