/// Looking into pictures: the rectangles of an SVG, the pixels of a PNG.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cairo.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "attn/maps/colour.hpp"

namespace attn::drawing {

struct FilledRect {
  double x;
  double y;
  double width;
  double height;
  maps::Rgb colour;
};

/// The filled paths of an SVG that are rectangles, in the order they are painted.
inline std::vector<FilledRect> rectangles(const std::string& svg) {
  std::vector<FilledRect> result;
  for (std::size_t at = svg.find("<path"); at != std::string::npos;
       at = svg.find("<path", at + 1)) {
    const std::string path = svg.substr(at, svg.find('>', at) - at);
    const std::size_t fill = path.find("rgb(");
    const std::size_t line = path.find(" d=\"M ");
    if (fill == std::string::npos || line == std::string::npos) continue;
    double c[3];
    double p[8];
    char end = 0;
    if (std::sscanf(path.c_str() + fill, "rgb(%lf%%,%lf%%,%lf%%)", &c[0], &c[1], &c[2]) != 3 ||
        path.find("fill:none") != std::string::npos ||
        std::sscanf(path.c_str() + line, " d=\"M %lf %lf L %lf %lf L %lf %lf L %lf %lf %c",
                    &p[0], &p[1], &p[2], &p[3], &p[4], &p[5], &p[6], &p[7], &end) != 9 ||
        end != 'Z' || p[1] != p[3] || p[2] != p[4] || p[5] != p[7] || p[6] != p[0])
      continue;
    const auto part = [](double percent) {
      return static_cast<std::uint8_t>(std::lround(percent * 2.55));
    };
    result.push_back(
        {p[0], p[1], p[4] - p[0], p[5] - p[1], {part(c[0]), part(c[1]), part(c[2])}});
  }
  return result;
}

/// The number behind `name="` in the first tag svg.
inline double svg_size(const std::string& svg, const std::string& name) {
  const std::size_t tag = svg.find("<svg");
  const std::size_t at = svg.find(" " + name + "=\"", tag);
  EXPECT_NE(at, std::string::npos);
  return std::atof(svg.c_str() + at + name.size() + 3);
}

/// A PNG, decoded by Cairo.
class Decoded {
 public:
  explicit Decoded(const std::string& png) {
    Source source{&png, 0};
    surface_.reset(cairo_image_surface_create_from_png_stream(read, &source));
    EXPECT_EQ(cairo_surface_status(surface_.get()), CAIRO_STATUS_SUCCESS);
  }

  int width() const { return cairo_image_surface_get_width(surface_.get()); }
  int height() const { return cairo_image_surface_get_height(surface_.get()); }
  maps::Rgb at(int x, int y) const {
    std::uint32_t pixel = 0;
    std::memcpy(
        &pixel,
        cairo_image_surface_get_data(surface_.get()) +
            static_cast<std::ptrdiff_t>(y) * cairo_image_surface_get_stride(surface_.get()) +
            4 * static_cast<std::ptrdiff_t>(x),
        4);
    return {static_cast<std::uint8_t>(pixel >> 16), static_cast<std::uint8_t>(pixel >> 8),
            static_cast<std::uint8_t>(pixel)};
  }

 private:
  struct Source {
    const std::string* bytes;
    std::size_t at;
  };
  static cairo_status_t read(void* from, unsigned char* to, unsigned int size) {
    auto* source = static_cast<Source*>(from);
    if (source->bytes->size() - source->at < size) return CAIRO_STATUS_READ_ERROR;
    std::memcpy(to, source->bytes->data() + source->at, size);
    source->at += size;
    return CAIRO_STATUS_SUCCESS;
  }
  struct Release {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  };
  std::unique_ptr<cairo_surface_t, Release> surface_;
};

}  // namespace attn::drawing
