// SPDX-License-Identifier: Apache-2.0

#include "drawing/canvas.hpp"

#include <cairo.h>
#include <pango/pango.h>
#include <pango/pangocairo.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numbers>
#include <span>
#include <string>
#include <string_view>

#include "attn/maps/text_width.hpp"

namespace attn::drawing {
namespace {

/// Nobody reads more of a label, and layout takes time.
constexpr std::size_t kMostLetters = 240;
constexpr std::size_t kMostLettersInLines = 4000;
constexpr int kMostLines = 12;

/// One line, not too long. A subword's mark of a space becomes an underscore: as a block it is
/// darker than the words.
std::string shown_text(std::string_view text, std::size_t most_letters) {
  constexpr std::string_view kSpaceMark = "▁";
  const std::string line = maps::shortened(maps::on_one_line(text), most_letters);
  std::string shown;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find(kSpaceMark, begin), line.size());
    shown.append(line, begin, end - begin);
    if (end < line.size()) shown += '_';
    begin = end + kSpaceMark.size();
  }
  return shown;
}

double from_pango(int units) {
  return static_cast<double>(units) / PANGO_SCALE;
}

/// In points.
Rect extents_of(PangoLayout* layout) {
  PangoRectangle extents;
  pango_layout_get_extents(layout, nullptr, &extents);
  return {from_pango(extents.x), from_pango(extents.y), from_pango(extents.width),
          from_pango(extents.height)};
}

void set_font(PangoLayout* layout, const TextStyle& style) {
  // Letters stand where the font wants them, not on whole points.
  pango_context_set_round_glyph_positions(pango_layout_get_context(layout), FALSE);
  PangoFontDescription* font = pango_font_description_new();
  pango_font_description_set_family_static(font, "sans-serif");
  pango_font_description_set_absolute_size(font, style.size * PANGO_SCALE);
  if (style.bold) pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
  pango_layout_set_font_description(layout, font);
  pango_font_description_free(font);
}

}  // namespace

void Canvas::Release::operator()(cairo_t* context) const {
  cairo_destroy(context);
}
void Canvas::Release::operator()(PangoLayout* layout) const {
  g_object_unref(layout);
}

Canvas::Canvas(cairo_surface_t* surface, double scale)
    : context_(cairo_create(surface)), scale_(scale) {
  if (is_image()) cairo_scale(context(), scale, scale);
  // Widths must not depend on the pixels of one output.
  cairo_font_options_t* fonts = cairo_font_options_create();
  cairo_font_options_set_hint_style(fonts, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(fonts, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(fonts, CAIRO_ANTIALIAS_GRAY);
  cairo_set_font_options(context(), fonts);
  cairo_font_options_destroy(fonts);
}

void Canvas::source(Rgb colour, double alpha) {
  cairo_set_source_rgba(context(), colour.red / 255.0, colour.green / 255.0,
                        colour.blue / 255.0, alpha);
}

void Canvas::fill(const Rect& rect, Rgb colour) {
  cairo_set_antialias(context(), CAIRO_ANTIALIAS_NONE);
  source(colour);
  cairo_rectangle(context(), rect.x, rect.y, rect.width, rect.height);
  cairo_fill(context());
  cairo_set_antialias(context(), CAIRO_ANTIALIAS_DEFAULT);
}

void Canvas::rounded(const Rect& rect, double radius) {
  const double r = std::min({radius, rect.width / 2.0, rect.height / 2.0});
  constexpr double kQuarter = std::numbers::pi / 2.0;
  cairo_new_path(context());
  cairo_arc(context(), rect.right() - r, rect.y + r, r, -kQuarter, 0.0);
  cairo_arc(context(), rect.right() - r, rect.bottom() - r, r, 0.0, kQuarter);
  cairo_arc(context(), rect.x + r, rect.bottom() - r, r, kQuarter, 2.0 * kQuarter);
  cairo_arc(context(), rect.x + r, rect.y + r, r, 2.0 * kQuarter, 3.0 * kQuarter);
  cairo_close_path(context());
}

void Canvas::fill_rounded(const Rect& rect, double radius, Rgb colour) {
  rounded(rect, radius);
  source(colour);
  cairo_fill(context());
}

void Canvas::outline_rounded(const Rect& rect, double radius, const Pen& pen) {
  rounded(rect, radius);
  stroke(pen);
}

void Canvas::stroke(const Pen& pen) {
  source(pen.colour, pen.alpha);
  cairo_set_line_width(context(), pen.width);
  cairo_set_line_join(context(), CAIRO_LINE_JOIN_ROUND);
  cairo_set_dash(context(), pen.dashes.data(), static_cast<int>(pen.dashes.size()), 0.0);
  cairo_stroke(context());
}

void Canvas::outline(const Rect& rect, const Pen& pen) {
  cairo_rectangle(context(), rect.x, rect.y, rect.width, rect.height);
  stroke(pen);
}

void Canvas::line(double x0, double y0, double x1, double y1, const Pen& pen) {
  cairo_move_to(context(), x0, y0);
  cairo_line_to(context(), x1, y1);
  stroke(pen);
}

void Canvas::polyline(std::span<const double> x, std::span<const double> y, const Pen& pen) {
  if (x.size() < 2) return;
  cairo_move_to(context(), x[0], y[0]);
  for (std::size_t i = 1; i < x.size(); ++i) cairo_line_to(context(), x[i], y[i]);
  stroke(pen);
}

void Canvas::dot(double x, double y, double radius, Rgb colour, double alpha) {
  cairo_new_path(context());
  cairo_arc(context(), x, y, radius, 0.0, 2.0 * std::numbers::pi);
  source(colour, alpha);
  cairo_fill(context());
}

void Canvas::triangle(double x, double y, double size, Rgb colour) {
  cairo_move_to(context(), x, y);
  cairo_line_to(context(), x + size / 2.0, y + size);
  cairo_line_to(context(), x - size / 2.0, y + size);
  cairo_close_path(context());
  source(colour);
  cairo_fill(context());
}

void Canvas::arrow_head(double from_x, double from_y, double x, double y, double size,
                        Rgb colour) {
  const double length = std::hypot(x - from_x, y - from_y);
  if (length == 0.0) return;
  const double along_x = (x - from_x) / length * size;
  const double along_y = (y - from_y) / length * size;
  constexpr double kHalfWidth = 0.42;
  cairo_move_to(context(), x, y);
  cairo_line_to(context(), x - along_x - kHalfWidth * along_y,
                y - along_y + kHalfWidth * along_x);
  cairo_line_to(context(), x - along_x + kHalfWidth * along_y,
                y - along_y - kHalfWidth * along_x);
  cairo_close_path(context());
  source(colour);
  cairo_fill(context());
}

void Canvas::image(const Rect& rect, const Pixels& pixels) {
  if (pixels.width == 0 || pixels.height == 0) return;
  cairo_surface_t* surface = cairo_image_surface_create(
      CAIRO_FORMAT_RGB24, static_cast<int>(pixels.width), static_cast<int>(pixels.height));
  if (cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS) {
    const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(surface));
    for (std::size_t row = 0; row < pixels.height; ++row)
      std::memcpy(cairo_image_surface_get_data(surface) + row * stride,
                  pixels.values.data() + row * pixels.width, pixels.width * 4);
    cairo_surface_mark_dirty(surface);
    cairo_save(context());
    cairo_translate(context(), rect.x, rect.y);
    cairo_scale(context(), rect.width / static_cast<double>(pixels.width),
                rect.height / static_cast<double>(pixels.height));
    cairo_set_source_surface(context(), surface, 0.0, 0.0);
    cairo_pattern_set_filter(cairo_get_source(context()), CAIRO_FILTER_NEAREST);
    cairo_rectangle(context(), 0.0, 0.0, static_cast<double>(pixels.width),
                    static_cast<double>(pixels.height));
    cairo_fill(context());
    cairo_restore(context());
  }
  cairo_surface_destroy(surface);
}

void Canvas::clip(const Rect& rect) {
  cairo_save(context());
  cairo_rectangle(context(), rect.x, rect.y, rect.width, rect.height);
  cairo_clip(context());
}

void Canvas::unclip() {
  cairo_restore(context());
}

Canvas::Layout Canvas::one_line(std::string_view text, const TextStyle& style) {
  const std::string shown = shown_text(text, kMostLetters);
  Layout layout(pango_cairo_create_layout(context()));
  pango_layout_set_text(layout.get(), shown.data(), static_cast<int>(shown.size()));
  set_font(layout.get(), style);
  pango_layout_set_single_paragraph_mode(layout.get(), TRUE);
  if (style.limit > 0.0 && extents_of(layout.get()).width > style.limit) {
    pango_layout_set_ellipsize(layout.get(), PANGO_ELLIPSIZE_END);
    pango_layout_set_width(layout.get(), static_cast<int>(style.limit * PANGO_SCALE));
  }
  return layout;
}

void Canvas::show(PangoLayout* layout, std::string_view text) {
  if (missing_.empty() && pango_layout_get_unknown_glyphs_count(layout) > 0) missing_ = text;
  pango_cairo_show_layout(context(), layout);
}

Size Canvas::measure(std::string_view text, const TextStyle& style) {
  return {extents_of(one_line(text, style).get()).width, style.size * 1.3};
}

void Canvas::text(double x, double y, std::string_view text, const TextStyle& style) {
  if (text.empty()) return;
  const Layout layout = one_line(text, style);
  const auto [left, top, width, height] = extents_of(layout.get());
  const double baseline = from_pango(pango_layout_get_baseline(layout.get()));
  cairo_save(context());
  cairo_translate(context(), x, y);
  cairo_rotate(context(), style.degrees * std::numbers::pi / 180.0);
  const double before = style.anchor == Anchor::left     ? 0.0
                        : style.anchor == Anchor::centre ? width / 2.0
                                                         : width;
  // Half the height of a capital below the middle; a text cut in a script from right to left
  // does not begin at 0.
  cairo_move_to(context(), -before - left, 0.36 * style.size - baseline);
  source(style.colour);
  show(layout.get(), text);
  cairo_restore(context());
}

Canvas::Layout Canvas::lines(std::string_view text, const TextStyle& style, double width) {
  const std::string shown = shown_text(text, kMostLettersInLines);
  Layout layout(pango_cairo_create_layout(context()));
  pango_layout_set_text(layout.get(), shown.data(), static_cast<int>(shown.size()));
  set_font(layout.get(), style);
  pango_layout_set_width(layout.get(), static_cast<int>(width * PANGO_SCALE));
  pango_layout_set_wrap(layout.get(), PANGO_WRAP_WORD_CHAR);
  pango_layout_set_ellipsize(layout.get(), PANGO_ELLIPSIZE_END);
  pango_layout_set_height(layout.get(), -kMostLines);
  pango_layout_set_spacing(layout.get(), static_cast<int>(0.15 * style.size * PANGO_SCALE));
  return layout;
}

double Canvas::paragraph_height(std::string_view text, const TextStyle& style, double width) {
  if (text.empty()) return 0.0;
  return extents_of(lines(text, style, width).get()).height;
}

double Canvas::paragraph(double x, double y, double width, std::string_view text,
                         const TextStyle& style) {
  if (text.empty()) return 0.0;
  const Layout layout = lines(text, style, width);
  cairo_move_to(context(), x, y);
  source(style.colour);
  show(layout.get(), text);
  return extents_of(layout.get()).height;
}

bool Canvas::runs_left(std::string_view text) {
  const Layout layout = one_line(text, {});
  return pango_layout_get_direction(layout.get(), 0) == PANGO_DIRECTION_RTL;
}

}  // namespace attn::drawing
