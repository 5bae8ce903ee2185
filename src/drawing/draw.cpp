// SPDX-License-Identifier: Apache-2.0

#include "attn/drawing/draw.hpp"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "drawing/canvas.hpp"
#include "drawing/figure.hpp"

namespace attn::drawing {
namespace {

/// The sentence that stands for a map without content.
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

constexpr double kMargin = 20.0;
constexpr double kNarrowest = 300.0;  ///< for a title and a caption
constexpr double kMostPixels = 30000.0;
const TextStyle kTitle{.size = 15.0, .bold = true};
const TextStyle kCaption{.size = 11.0, .colour = kMuted};

struct Release {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
using Surface = std::unique_ptr<cairo_surface_t, Release>;

cairo_status_t append(void* text, const unsigned char* bytes, unsigned int size) {
  static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(bytes), size);
  return CAIRO_STATUS_SUCCESS;
}

void check(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS)
    fail<Error>("attn::drawing::draw: Cairo: ", cairo_status_to_string(status));
}

/// Title, figure and caption, one under the other.
class Page {
 public:
  Page(const maps::Map& map, const Options& options, Canvas& measuring)
      : title_(maps::title_of(map)),
        figure_(std::visit(
            [&](const auto& kind) { return figure_of(kind, options.width - 2.0 * kMargin); },
            map)) {
    const Size size = figure_->layout(measuring);
    caption_ = maps::caption_of(map);
    if (const std::string remark = figure_->remark(); !remark.empty())
      caption_ += (caption_.empty() ? "" : " ") + remark;
    inside_ = std::max(std::ceil(size.width), kNarrowest);
    figure_left_ = std::floor((inside_ - size.width) / 2.0);
    title_height_ = std::ceil(measuring.paragraph_height(title_, kTitle, inside_));
    if (title_height_ > 0.0) title_height_ += 12.0;
    figure_height_ = std::ceil(size.height);
    height_ = 2.0 * kMargin + title_height_ + figure_height_;
    if (!caption_.empty())
      height_ += 14.0 + std::ceil(measuring.paragraph_height(caption_, kCaption, inside_));
  }

  Size size() const { return {inside_ + 2.0 * kMargin, height_}; }
  const std::string& caption() const { return caption_; }

  void paint(Canvas& canvas) {
    canvas.fill({0.0, 0.0, size().width, size().height}, kPaper);
    canvas.paragraph(kMargin, kMargin, inside_, title_, kTitle);
    const double top = kMargin + title_height_;
    figure_->paint(canvas, kMargin + figure_left_, top);
    canvas.paragraph(kMargin, top + figure_height_ + 14.0, inside_, caption_, kCaption);
  }

 private:
  std::string title_;
  std::string caption_;
  std::unique_ptr<Figure> figure_;
  double inside_ = 0.0;
  double figure_left_ = 0.0;
  double title_height_ = 0.0;
  double figure_height_ = 0.0;
  double height_ = 0.0;
};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += ' ';  // XML has no way to write most of them
    } else {
      result += c;
    }
  }
  return result;
}

/// Text is drawn as outlines, so that it looks the same everywhere; who cannot see it hears
/// the title and the caption.
std::string with_words(std::string svg, const std::string& title, const std::string& caption) {
  const std::size_t at = svg.find('>', svg.find("<svg"));
  if (at != std::string::npos)
    svg.insert(at + 1, "\n<title>" + escaped(title) + "</title>\n<desc>" + escaped(caption) +
                           "</desc>");
  return svg;
}

struct Picture {
  std::string bytes;
  std::string missing{};  ///< a text that no font here has
};

Picture png_of(Page& page, double scale) {
  const Size size = page.size();
  const double width = std::ceil(size.width * scale);
  const double height = std::ceil(size.height * scale);
  if (width > kMostPixels || height > kMostPixels)
    fail("attn::drawing::draw: a picture of ", width, " x ", height, " pixels; at most ",
         kMostPixels, " a side are accepted: use a smaller scale, .svg or .pdf");
  const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width),
                                                   static_cast<int>(height)));
  check(cairo_surface_status(surface.get()));
  Picture picture;
  {
    Canvas canvas(surface.get(), scale);
    page.paint(canvas);
    check(cairo_status(canvas.context()));
    picture.missing = canvas.missing();
  }
  check(cairo_surface_write_to_png_stream(surface.get(), append, &picture.bytes));
  return picture;
}

Picture vectors_of(Page& page, Format format, const std::string& title) {
  const Size size = page.size();
  Picture picture;
  std::string& bytes = picture.bytes;
  const Surface surface(
      format == Format::svg
          ? cairo_svg_surface_create_for_stream(append, &bytes, size.width, size.height)
          : cairo_pdf_surface_create_for_stream(append, &bytes, size.width, size.height));
  check(cairo_surface_status(surface.get()));
  if (format == Format::svg) {
    cairo_svg_surface_set_document_unit(surface.get(), CAIRO_SVG_UNIT_PX);
  } else {
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, title.c_str());
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_SUBJECT,
                                   page.caption().c_str());
  }
  {
    Canvas canvas(surface.get(), 0.0);
    page.paint(canvas);
    check(cairo_status(canvas.context()));
    picture.missing = canvas.missing();
  }
  cairo_surface_finish(surface.get());
  check(cairo_surface_status(surface.get()));
  if (format == Format::svg) bytes = with_words(std::move(bytes), title, page.caption());
  return picture;
}

Picture picture_of(const maps::Map& map, Format format, const Options& options) {
  if (!(options.width >= 200.0 && options.width <= 10000.0))
    fail("attn::drawing::draw: a width of ", options.width, "; accepted: 200 to 10000");
  if (!(options.scale >= 0.25 && options.scale <= 16.0))
    fail("attn::drawing::draw: a scale of ", options.scale, "; accepted: 0.25 to 16");
  maps::validate(map);
  const Surface nothing(cairo_recording_surface_create(CAIRO_CONTENT_COLOR, nullptr));
  Canvas measuring(nothing.get(), format == Format::png ? options.scale : 0.0);
  Page page(map, options, measuring);
  return format == Format::png ? png_of(page, options.scale)
                               : vectors_of(page, format, maps::title_of(map));
}

}  // namespace

std::unique_ptr<Figure> empty_figure(std::string why) {
  return std::make_unique<EmptyFigure>(std::move(why));
}

std::string draw(const maps::Map& map, Format format, const Options& options) {
  return picture_of(map, format, options).bytes;
}

std::optional<Format> format_of(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (ending == ".svg") return Format::svg;
  if (ending == ".pdf") return Format::pdf;
  if (ending == ".png") return Format::png;
  return std::nullopt;
}

std::string draw_to(const maps::Map& map, const std::filesystem::path& path,
                    const Options& options) {
  const auto format = format_of(path);
  if (!format)
    fail("attn::drawing::draw_to: ", files::path_text(path),
         "; accepted endings: .svg, .pdf, .png");
  Picture picture = picture_of(map, *format, options);
  files::atomic_write(path, picture.bytes);
  return std::move(picture.missing);
}

}  // namespace attn::drawing
