/// A piano roll with what the last notes looked at.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <span>
#include <vector>

#include "attn/maps/map.hpp"
#include "tasks/compose/music.hpp"

namespace attn::tasks::compose {

/// How much a note that was composed looked at each of the notes before it.
struct Looking {
  std::size_t note = 0;         ///< of the music
  std::vector<double> weights;  ///< one a note of the music; 0 for those after it
};

/// Notes as boxes over time and pitch, those from `composed` on in another colour; arcs from
/// the first of `looking` to what it looked at most, and below a row for each of them. Of long
/// music the end is shown.
maps::Diagram piano_roll(const Music& music, std::size_t composed,
                         std::span<const Looking> looking);

}  // namespace attn::tasks::compose
