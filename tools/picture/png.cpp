// PNG, by libpng's plain interface, which reports instead of jumping.

// SPDX-License-Identifier: Apache-2.0

#include <png.h>

#include <string>
#include <string_view>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "tools/picture/picture_file.hpp"

namespace attn::picture {
namespace {

/// What libpng holds is given back.
struct PngImage {
  png_image image{};

  PngImage() { image.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&image); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;

  std::string problem() const {
    return files::printable(std::string_view(static_cast<const char*>(image.message)), 200);
  }
};

}  // namespace

Frame read_png(const Source& source) {
  PngImage png;
  if (png_image_begin_read_from_memory(&png.image, source.bytes.data(), source.bytes.size()) ==
      0)
    fail<FileError>(source.where, " is a damaged PNG: ", png.problem());
  Frame frame = frame_of(source, png.image.width, png.image.height);
  png.image.format = PNG_FORMAT_RGB;
  frame.pixels.resize(PNG_IMAGE_SIZE(png.image));
  constexpr png_color kWhite{255, 255, 255};
  if (png_image_finish_read(&png.image, &kWhite, frame.pixels.data(), 0, nullptr) == 0)
    fail<FileError>(source.where, " is a damaged PNG: ", png.problem());
  return frame;
}

}  // namespace attn::picture
