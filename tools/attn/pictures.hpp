/// Pictures that tasks read and show: from PNG, JPEG and GIF files, as PNG files, as text.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/value.hpp"

namespace attn::tools {

/// A PNG, JPEG or GIF file in red, green and blue, of a film the first frame; the program
/// attn-picture decodes it. A FileError names the file and says why it is not read.
tasks::Picture read_picture(const std::filesystem::path& path);

struct Film {
  tasks::Frames frames;
  std::vector<std::int64_t> milliseconds;  ///< that each frame is shown; 0: it does not move
};
/// All frames of a GIF, as large as each other; one of another picture.
Film read_film(const std::filesystem::path& path);

/// The first picture of an example; InvalidArgument where it has none.
const tasks::Picture& picture_of(const tasks::Example& example);
/// Its texts, such as a question about the picture.
std::vector<std::string> texts_beside(const tasks::Example& example);
/// "canvas-0007.png": the file it is written to.
std::string picture_file(const tasks::Example& example);

/// Writes each picture as a PNG into the folder, and a list: file, texts beside it, right
/// answer. It is captions.tsv, or questions.tsv where there are texts.
void save_pictures(const std::filesystem::path& folder,
                   std::span<const tasks::Example> examples);

/// A character for each column, as tall as two rows.
std::string text_art(const tasks::Picture& picture);

}  // namespace attn::tools
