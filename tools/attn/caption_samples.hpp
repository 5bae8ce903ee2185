/// Test canvases for people to look at: as PNG files, or as text.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attn/tasks/caption/canvas.hpp"

namespace attn::tools {

/// "canvas-0007.png".
std::string sample_name(std::size_t index);

/// Writes each canvas as a PNG into the folder, and captions.tsv: file, caption.
void save_samples(const std::filesystem::path& folder,
                  const std::vector<tasks::Canvas>& canvases);

/// 32 lines of 64 characters: a character is as tall as two pixels.
std::string text_art(const std::vector<std::uint8_t>& canvas);

}  // namespace attn::tools
