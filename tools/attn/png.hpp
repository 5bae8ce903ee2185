/// Pictures as PNG files.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <span>

namespace attn::tools {

/// Grey (a byte a pixel) or red, green and blue (three); replaced atomically.
void write_png(const std::filesystem::path& path, std::span<const std::uint8_t> pixels,
               std::int64_t width, std::int64_t height, std::int64_t channels = 1);

}  // namespace attn::tools
