/// A map in the terminal: a compact heat map of Unicode blocks.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>

#include "attn/maps/map.hpp"

namespace attn::maps {

enum class Colour {
  none,  ///< shades: ░▒▓█
  full,  ///< 24-bit colours, by escape sequences
};

/// Lines that are at most `columns` wide, each ended by '\n'. Labels are cut with "…", and
/// matrices that do not fit are pooled, which the text then says.
std::string show(const Map& map, std::size_t columns = 80, Colour colour = Colour::none);

}  // namespace attn::maps
