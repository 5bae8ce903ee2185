// JPEG, by libjpeg: its errors jump back, so that nothing here is left undone between.

// SPDX-License-Identifier: Apache-2.0

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs it before
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "tools/picture/orientation.hpp"
#include "tools/picture/picture_file.hpp"

namespace attn::picture {
namespace {

/// A progressive picture has some ten; each more is a whole pass over its pixels.
constexpr int kMostScans = 100;

struct Trouble {
  jpeg_error_mgr manager;  // first: libjpeg hands this out
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX];
};

extern "C" {

[[noreturn]] void leave(j_common_ptr info) {
  auto* trouble = reinterpret_cast<Trouble*>(info->err);
  info->err->format_message(info, static_cast<char*>(trouble->message));
  std::longjmp(trouble->back, 1);
}

/// libjpeg would go on with grey where data are missing. What stands between markers, and what
/// an application wrote about itself, changes no pixel.
void warned(j_common_ptr info, int level) {
  if (level >= 0) return;
  switch (info->err->msg_code) {
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
      return;
    default:
      leave(info);
  }
}

void count_scans(j_common_ptr info) {
  auto* reading = reinterpret_cast<j_decompress_ptr>(info);
  if (reading->input_scan_number <= kMostScans) return;
  auto* trouble = reinterpret_cast<Trouble*>(info->err);
  std::snprintf(static_cast<char*>(trouble->message), sizeof(trouble->message),
                "it has more than %d scans", kMostScans);
  std::longjmp(trouble->back, 1);
}

}  // extern "C"

/// A function here returns false where libjpeg jumped back, and has nothing to give back
/// itself.
class Jpeg {
 public:
  Jpeg() {
    info_.err = jpeg_std_error(&trouble_.manager);
    trouble_.manager.error_exit = leave;
    trouble_.manager.emit_message = warned;
    watch_.progress_monitor = count_scans;
  }
  ~Jpeg() { jpeg_destroy_decompress(&info_); }
  Jpeg(const Jpeg&) = delete;
  Jpeg& operator=(const Jpeg&) = delete;

  bool read_header(std::span<const std::byte> bytes) {
    if (setjmp(trouble_.back) != 0) return false;
    jpeg_create_decompress(&info_);
    info_.progress = &watch_;
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes.data()),
                 static_cast<unsigned long>(bytes.size()));
    jpeg_save_markers(&info_, JPEG_APP0 + 1, 0xffff);
    jpeg_read_header(&info_, TRUE);
    is_ink_ = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
    info_.out_color_space = is_ink_ ? JCS_CMYK : JCS_RGB;
    return true;
  }

  std::uint64_t width() const { return info_.image_width; }
  std::uint64_t height() const { return info_.image_height; }
  std::size_t channels() const { return is_ink_ ? 4 : 3; }
  bool is_ink() const { return is_ink_; }
  /// Adobe's programs store how much is left of the light.
  bool is_light() const { return info_.saw_Adobe_marker != 0; }

  bool read_rows(std::uint8_t* to) {
    if (setjmp(trouble_.back) != 0) return false;
    jpeg_start_decompress(&info_);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = to + std::size_t{info_.output_scanline} * info_.output_width * channels();
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  /// What the camera wrote beside the picture.
  std::span<const std::uint8_t> notes() const {
    for (auto* marker = info_.marker_list; marker != nullptr; marker = marker->next)
      if (marker->marker == JPEG_APP0 + 1) return {marker->data, marker->data_length};
    return {};
  }

  std::string problem() const {
    return files::printable(std::string_view(static_cast<const char*>(trouble_.message)), 200);
  }

 private:
  jpeg_decompress_struct info_{};
  jpeg_progress_mgr watch_{};
  Trouble trouble_{};
  bool is_ink_ = false;
};

/// Cyan, magenta, yellow and black as red, green and blue.
std::vector<std::uint8_t> light_of(std::span<const std::uint8_t> ink, bool is_light) {
  std::vector<std::uint8_t> light;
  light.reserve(ink.size() / 4 * 3);
  const auto left = [&](std::uint8_t value) { return is_light ? value : 255 - value; };
  for (std::size_t i = 0; i + 3 < ink.size(); i += 4)
    for (std::size_t channel = 0; channel < 3; ++channel)
      light.push_back(
          static_cast<std::uint8_t>(left(ink[i + channel]) * left(ink[i + 3]) / 255));
  return light;
}

}  // namespace

Frame read_jpeg(const Source& source) {
  Jpeg jpeg;
  if (!jpeg.read_header(source.bytes))
    fail<FileError>(source.where, " is a damaged JPEG: ", jpeg.problem());
  Frame frame = frame_of(source, jpeg.width(), jpeg.height());
  const int orientation =
      orientation_of(jpeg.notes());  // libjpeg gives them back with the rows
  frame.pixels.resize(static_cast<std::size_t>(frame.width * frame.height) * jpeg.channels());
  if (!jpeg.read_rows(frame.pixels.data()))
    fail<FileError>(source.where, " is a damaged JPEG: ", jpeg.problem());
  if (jpeg.is_ink()) frame.pixels = light_of(frame.pixels, jpeg.is_light());
  return upright(std::move(frame), orientation);
}

}  // namespace attn::picture
