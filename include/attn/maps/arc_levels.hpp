/// How high each arc of a tree is drawn, so that none runs along another.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <vector>

#include "attn/maps/map.hpp"

namespace attn::maps {

/// For each arc a level from 1; 0 for that of the root, which spans nothing. An arc is above
/// all shorter ones whose words lie between its own. Levels of at most `count` words are told;
/// an arc to a word past them gets 0.
std::vector<std::size_t> arc_levels(const Arcs& map, std::size_t count);

}  // namespace attn::maps
