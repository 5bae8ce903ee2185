/// The names of a diagram's choices in JSON.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <string_view>

#include "attn/maps/map.hpp"

namespace attn::maps {

inline constexpr std::array kRoles{Role::plain, Role::query, Role::key,
                                   Role::value, Role::score, Role::output};
inline constexpr std::array kAnchors{NoteAnchor::left, NoteAnchor::centre, NoteAnchor::right};

std::string_view name_of(NoteAnchor anchor);

}  // namespace attn::maps
