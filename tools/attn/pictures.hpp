/// Pictures that tasks read and show: from PNG files, as PNG files, as text.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <span>
#include <string>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/value.hpp"

namespace attn::tools {

/// A PNG file in grey.
tasks::Picture read_picture(const std::filesystem::path& path);

/// The first picture of an example; InvalidArgument where it has none.
const tasks::Picture& picture_of(const tasks::Example& example);
/// "canvas-0007.png": the file it is written to.
std::string picture_file(const tasks::Example& example);

/// Writes each picture as a PNG into the folder, and captions.tsv: file, right answer.
void save_pictures(const std::filesystem::path& folder,
                   std::span<const tasks::Example> examples);

/// A character for each column, as tall as two rows.
std::string text_art(const tasks::Picture& picture);

}  // namespace attn::tools
