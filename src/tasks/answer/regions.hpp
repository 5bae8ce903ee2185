/// Regions of a picture: the boxes around what stands out from its background.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/value.hpp"

namespace attn::tasks::vqa {

/// At most, of a picture.
inline constexpr std::size_t kMostRegions = 16;

/// Of a picture of three channels: boxes around pixels that hang together and differ from the
/// middle colour of the rim, largest first; boxes that meet are one. The whole picture where
/// nothing stands out, so that there is always something to look at.
std::vector<Box> regions_of(const Picture& picture);

}  // namespace attn::tasks::vqa
