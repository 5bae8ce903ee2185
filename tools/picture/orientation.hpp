/// How a camera was held: its note beside a JPEG says how to turn the picture.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep
#include "tools/picture/picture_file.hpp"

namespace attn::picture {

/// 1 (upright) to 8 of an Exif note; 1 for whatever is none.
int orientation_of(std::span<const std::uint8_t> note);

/// The picture as it was seen.
Frame upright(Frame frame, int orientation);

}  // namespace attn::picture
