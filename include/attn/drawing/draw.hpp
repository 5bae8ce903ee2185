/// Pictures of maps: one drawing code for SVG, PDF and PNG.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <optional>
#include <string>

#include "attn/maps/map.hpp"

namespace attn::drawing {

enum class Format { svg, pdf, png };

struct Options {
  /// What to aim for, in points (pixels at scale 1): small maps stay smaller, and a matrix
  /// whose labels would overlap grows.
  double width = 720.0;
  /// Pixels a point, for PNG.
  double scale = 2.0;
};

/// The bytes of the picture. Validates the map first; a picture past 30,000 pixels a side is
/// InvalidArgument.
///
/// In SVG and PDF every cell of a matrix is one filled rectangle, row after row. A matrix of
/// more than 128 rows or columns is pooled there (the picture says so), and in PNG it is an
/// image with at least a pixel for each of up to 4,096 x 4,096 weights.
std::string draw(const maps::Map& map, Format format, const Options& options = {});

/// By the ending .svg, .pdf or .png, in any case; nothing for another.
std::optional<Format> format_of(const std::filesystem::path& path);

/// The same into a file, which is replaced whole or not at all. A text that stands in it as
/// boxes, since no font on this machine has its letters; "": none does.
std::string draw_to(const maps::Map& map, const std::filesystem::path& path,
                    const Options& options = {});

}  // namespace attn::drawing
