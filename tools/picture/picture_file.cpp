// SPDX-License-Identifier: Apache-2.0

#include "tools/picture/picture_file.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"

namespace attn::picture {
namespace {

enum class Format { png, jpeg, gif, other, unknown };

/// What files of a format begin with, a few bytes into them.
struct Sign {
  std::size_t at;
  std::string_view bytes;
  Format format;
  const char* name;
};

using namespace std::string_view_literals;
constexpr Sign kSigns[] = {{0, "\x89PNG\r\n\x1a\n"sv, Format::png, "PNG"},
                           {0, "\xff\xd8\xff"sv, Format::jpeg, "JPEG"},
                           {0, "GIF87a"sv, Format::gif, "GIF"},
                           {0, "GIF89a"sv, Format::gif, "GIF"},
                           {8, "WEBP"sv, Format::other, "WebP"},
                           {4, "ftypavif"sv, Format::other, "AVIF"},
                           {4, "ftypheic"sv, Format::other, "HEIC"},
                           {4, "ftypheix"sv, Format::other, "HEIC"},
                           {4, "ftypmif1"sv, Format::other, "HEIF"},
                           {4, "JXL \r\n"sv, Format::other, "JPEG XL"},
                           {0, "\xff\x0a"sv, Format::other, "JPEG XL"},
                           {4, "jP  \r\n"sv, Format::other, "JPEG 2000"},
                           {0, "II*\0"sv, Format::other, "TIFF"},
                           {0, "MM\0*"sv, Format::other, "TIFF"},
                           {0, "8BPS"sv, Format::other, "Photoshop"},
                           {0, "\0\0\1\0"sv, Format::other, "an icon file"},
                           {0, "%PDF-"sv, Format::other, "PDF"},
                           {0, "<svg"sv, Format::other, "SVG"},
                           {0, "<?xml"sv, Format::other, "XML, perhaps SVG"},
                           {0, "BM"sv, Format::other, "BMP"}};

const Sign* sign_of(std::string_view text) {
  for (const Sign& sign : kSigns)
    if (text.size() >= sign.at && text.substr(sign.at).starts_with(sign.bytes)) return &sign;
  return nullptr;
}

}  // namespace

Frame frame_of(const Source& source, std::uint64_t width, std::uint64_t height) {
  // Each is below 2^32, so that the product does not run over.
  if (width == 0 || height == 0)
    fail<FileError>(source.where, " has ", width, " x ", height, " pixels; there is nothing");
  if (width * height > source.limits.pixels)
    fail<FileError>(source.where, " has ", width, " x ", height, " pixels; at most ",
                    source.limits.pixels, " are read");
  Frame frame;
  frame.width = static_cast<std::int64_t>(width);
  frame.height = static_cast<std::int64_t>(height);
  return frame;
}

void read_frames(const std::filesystem::path& path, Which which, const Take& take,
                 const Limits& limits) {
  const files::Bytes bytes = files::read_bytes(path, limits.bytes);
  const Source source{bytes.span(), files::path_text(path), limits};
  if (bytes.size() == 0) fail<FileError>(source.where, " is empty; a picture is read");
  const Sign* sign = sign_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  switch (sign == nullptr ? Format::unknown : sign->format) {
    case Format::png:
      return take(read_png(source));
    case Format::jpeg:
      return take(read_jpeg(source));
    case Format::gif:
      return read_gif(source, which, take);
    case Format::other:
      fail<FileError>(source.where, " is ", sign->name,
                      ", which is not read; PNG, JPEG and GIF are");
    case Format::unknown:
      fail<FileError>(source.where, " is no picture; PNG, JPEG and GIF are read");
  }
}

}  // namespace attn::picture
