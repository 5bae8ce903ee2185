/// Writing maps into files: JSON directly, pictures by the program attn-draw.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <filesystem>
#include <string>

#include "attn/maps/map.hpp"

namespace attn::tools {

/// "" when the file's ending is .json, .svg, .pdf or .png, else what is wrong with it. A check
/// for flags: `->check(map_file_problem)` makes another ending a wrong call.
std::string map_file_problem(const std::string& path);

/// Throws, before the work, where write_map could not write there.
void check_map_output(const std::filesystem::path& path);

/// The kind of file follows from its ending; the file is replaced whole or not at all.
/// Unsupported where a picture is wanted and attn-draw was not built. What the user should know
/// of the picture, such as a font that it lacks; "": nothing.
std::string write_map(const maps::Map& map, const std::filesystem::path& path);

/// Prints the heat map: as wide as the terminal, in colour where `out` is one (NO_COLOR is
/// obeyed, and COLORTERM need not be set).
void show_map(const maps::Map& map, std::FILE* out);

}  // namespace attn::tools
