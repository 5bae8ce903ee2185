/// A picture with the colour of attention laid over it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/maps/map.hpp"
#include "drawing/canvas.hpp"

namespace attn::drawing {

/// Told from blue and from every grey by all kinds of eyes.
constexpr Rgb kOverlay{255, 130, 0};

/// `under` with the overlay at a share of 0..1.
Rgb mixed(Rgb under, float share);

/// The picture at a size for a panel, its pixels as sharp squares where it is small. The grid
/// (none: the picture alone) runs smoothly from the middle of one cell to that of the next.
Pixels blended(const maps::Image& image, const maps::Matrix* grid, float top);

}  // namespace attn::drawing
