/// Fits a picture of any size and colour to the square that a model of digits reads.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attn/tasks/value.hpp"

namespace attn::tasks {

/// What a model learnt from: a square, and things of some height on it.
struct PictureFit {
  std::int64_t side = 0;
  /// A thing between these is read as it is.
  double least_thing = 0.0;
  double largest_thing = 0.0;
  double wanted_thing = 0.0;
};

/// A grey picture as such a square, light on dark. A light background (the middle value of the
/// rim) is turned dark and contrast is stretched. The picture is fitted into the square; if
/// what is on it is then far larger or smaller than a thing should be, it is fitted by its ink.
/// One that already is a dark square with things of that size stays as it is.
std::vector<std::uint8_t> fit_picture(std::span<const std::uint8_t> grey, std::int64_t width,
                                      std::int64_t height, const PictureFit& fit);

/// Why a picture cannot be fitted, to stand behind "the picture "; "": it can.
std::string picture_problem(const Picture& picture);

}  // namespace attn::tasks
