// GIF, by libgif, frame after frame: what a frame leaves out shows the one before.

// SPDX-License-Identifier: Apache-2.0

#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "tools/picture/picture_file.hpp"

namespace attn::picture {
namespace {

/// Browsers show frames that claim less for this long.
constexpr std::int64_t kUsualMilliseconds = 100;

class Gif {
 public:
  explicit Gif(const Source& source) : source_(source), rest_(source.bytes) {
    int error = 0;
    file_.reset(DGifOpen(this, read_on, &error));
    if (file_ == nullptr) damaged(GifErrorString(error));
    const auto size = [](int extent) {
      return static_cast<std::uint64_t>(std::max(0, extent));
    };
    screen_ = frame_of(source, size(file_->SWidth), size(file_->SHeight));
    screen_.pixels.assign(pixels_of(screen_) * 3, 255);
  }
  /// The next frame, as it is seen; null behind the last.
  const Frame* next() {
    dispose();
    for (;;) {
      GifRecordType type = UNDEFINED_RECORD_TYPE;
      if (DGifGetRecordType(file_.get(), &type) != GIF_OK) damaged();
      if (type == TERMINATE_RECORD_TYPE) return nullptr;
      if (type == EXTENSION_RECORD_TYPE) read_extension();
      if (type != IMAGE_DESC_RECORD_TYPE) continue;
      read_image();
      return &screen_;
    }
  }

 private:
  static std::size_t pixels_of(const Frame& frame) {
    return static_cast<std::size_t>(frame.width * frame.height);
  }

  static int read_on(GifFileType* file, GifByteType* to, int wanted) {
    auto& rest = static_cast<Gif*>(file->UserData)->rest_;
    const std::size_t count =
        std::min(rest.size(), static_cast<std::size_t>(std::max(0, wanted)));
    if (count > 0) std::memcpy(to, rest.data(), count);
    rest = rest.subspan(count);
    return static_cast<int>(count);
  }

  [[noreturn]] void damaged(const char* why = nullptr) const {
    if (why == nullptr && file_ != nullptr) why = GifErrorString(file_->Error);
    fail<FileError>(source_.where, " is a damaged GIF: ",
                    why != nullptr ? std::string(why) : "it does not go on as it should");
  }

  void read_extension() {
    int code = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(file_.get(), &code, &block) != GIF_OK) damaged();
    while (block != nullptr) {
      // The first byte of a block is its length.
      if (code == GRAPHICS_EXT_FUNC_CODE &&
          DGifExtensionToGCB(block[0], block + 1, &control_) != GIF_OK)
        damaged();
      if (DGifGetExtensionNext(file_.get(), &block) != GIF_OK) damaged();
    }
  }

  void read_image() {
    if (DGifGetImageDesc(file_.get()) != GIF_OK) damaged();
    const GifImageDesc& image = file_->Image;
    if (image.Left < 0 || image.Top < 0) damaged("a frame has no place");
    // It may reach beyond the screen, and is decoded whole.
    frame_of(source_, static_cast<std::uint64_t>(image.Width),
             static_cast<std::uint64_t>(image.Height));
    const ColorMapObject* colours =
        image.ColorMap != nullptr ? image.ColorMap : file_->SColorMap;
    if (colours == nullptr) damaged("a frame has no colours");
    if (control_.DisposalMode == DISPOSE_PREVIOUS) before_ = screen_.pixels;
    std::vector<GifPixelType> row(static_cast<std::size_t>(image.Width));
    const auto read_row = [&](int y) {
      if (DGifGetLine(file_.get(), row.data(), image.Width) != GIF_OK) damaged();
      paint_row(row, image.Top + y, *colours);
    };
    constexpr std::array<std::pair<int, int>, 4> kInterlaced{{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
    if (!image.Interlace) {
      for (int y = 0; y < image.Height; ++y) read_row(y);
    } else {
      for (const auto& [first, step] : kInterlaced)
        for (int y = first; y < image.Height; y += step) read_row(y);
    }
    const std::int64_t told = 10 * static_cast<std::int64_t>(control_.DelayTime);
    screen_.milliseconds = told <= 10 ? kUsualMilliseconds : told;
    last_ = image;
    last_.ColorMap = nullptr;
    disposal_ = control_.DisposalMode;
    control_ = kPlain;
  }

  void paint_row(std::span<const GifPixelType> row, int y, const ColorMapObject& colours) {
    if (y >= screen_.height) return;
    const std::int64_t left = file_->Image.Left;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::int64_t x = left + static_cast<std::int64_t>(i);
      if (x >= screen_.width) return;
      const int colour = row[i];
      if (colour == control_.TransparentColor) continue;
      // Beyond the table there is no colour; such a pixel stays what it was.
      if (colour >= colours.ColorCount) continue;
      const GifColorType& paint = colours.Colors[colour];
      std::uint8_t* pixel =
          &screen_.pixels[static_cast<std::size_t>((y * screen_.width + x) * 3)];
      pixel[0] = paint.Red;
      pixel[1] = paint.Green;
      pixel[2] = paint.Blue;
    }
  }

  /// What the last frame said is to become of it.
  void dispose() {
    if (disposal_ == DISPOSE_PREVIOUS && !before_.empty()) screen_.pixels = before_;
    if (disposal_ == DISPOSE_BACKGROUND) {
      const std::int64_t right =
          std::min<std::int64_t>(screen_.width, std::int64_t{last_.Left} + last_.Width);
      const std::int64_t bottom =
          std::min<std::int64_t>(screen_.height, std::int64_t{last_.Top} + last_.Height);
      for (std::int64_t y = last_.Top; y < bottom; ++y)
        for (std::int64_t x = last_.Left; x < right; ++x)
          std::fill_n(&screen_.pixels[static_cast<std::size_t>((y * screen_.width + x) * 3)], 3,
                      std::uint8_t{255});
    }
    disposal_ = DISPOSAL_UNSPECIFIED;
  }

  static constexpr GraphicsControlBlock kPlain{DISPOSAL_UNSPECIFIED, false, 0,
                                               NO_TRANSPARENT_COLOR};

  const Source& source_;
  std::span<const std::byte> rest_;
  struct Close {
    void operator()(GifFileType* file) const { DGifCloseFile(file, nullptr); }
  };
  std::unique_ptr<GifFileType, Close> file_;
  Frame screen_;
  std::vector<std::uint8_t> before_;
  GraphicsControlBlock control_ = kPlain;
  GifImageDesc last_{};
  int disposal_ = DISPOSAL_UNSPECIFIED;
};

}  // namespace

void read_gif(const Source& source, Which which, const Take& take) {
  Gif gif(source);
  std::int64_t frames = 0;
  std::uint64_t pixels = 0;
  while (const Frame* frame = gif.next()) {
    ++frames;
    pixels += static_cast<std::uint64_t>(frame->width * frame->height);
    if (which == Which::all &&
        (frames > source.limits.frames || pixels > source.limits.film_pixels))
      fail<FileError>(source.where, " has more than ", frames - 1, " frames of ", frame->width,
                      " x ", frame->height, " pixels; at most ", source.limits.frames,
                      " frames and ", source.limits.film_pixels, " pixels are read");
    take(*frame);
    if (which == Which::first) return;
  }
  if (frames == 0) fail<FileError>(source.where, " is a GIF without a picture");
}

}  // namespace attn::picture
