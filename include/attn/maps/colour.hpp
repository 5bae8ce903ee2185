/// The colour scale of weights, the same for every picture.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/maps/map.hpp"

namespace attn::maps {

struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
  bool operator==(const Rgb&) const = default;
};

/// From near white (0) over blue to dark indigo (1) in 256 steps; what lies outside of 0..1
/// takes the end's colour. Its lightness in OKLab falls in equal steps, so equal differences of
/// weight look equal, and order survives a grey printer and every kind of colour-blindness.
Rgb colour_of(float weight);

/// Black or white, whichever can be read on `background` (WCAG's contrast ratio).
Rgb text_on(Rgb background);

/// Relative luminance, 0..1 (WCAG 2).
double luminance(Rgb colour);

/// The weight that gets the darkest colour: 1 where any weight passes one half, else the next
/// of 1, 2, 5 times a power of ten, so that a long row of small weights can be seen.
float top_of(const Matrix& weights);
float top_of(float largest);

/// `colour_of(weight / top)`.
Rgb colour_of(float weight, float top);

}  // namespace attn::maps
