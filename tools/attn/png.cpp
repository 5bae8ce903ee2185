#include "tools/attn/png.hpp"

#include <png.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"

namespace attn::tools {
namespace {

constexpr std::uint64_t kMostPngBytes = std::uint64_t{64} << 20;
/// Of a picture, 8192 x 4096 and the like; a few kilobytes can claim to hold far more.
constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 25;

/// libpng's plain interface, which reports instead of jumping; what it holds is given back.
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

GreyPicture read_png(const std::filesystem::path& path) {
  const std::string where = files::path_text(path);
  const files::Bytes bytes = files::read_bytes(path, kMostPngBytes);
  PngImage png;
  if (png_image_begin_read_from_memory(&png.image, bytes.data(), bytes.size()) == 0)
    fail<FileError>(where, " is no PNG that can be read: ", png.problem());
  const std::uint64_t pixels = std::uint64_t{png.image.width} * png.image.height;
  if (pixels > kMostPixels)
    fail<FileError>(where, " has ", png.image.width, " x ", png.image.height,
                    " pixels; at most ", kMostPixels, " are read");
  png.image.format = PNG_FORMAT_GRAY;
  GreyPicture picture{png.image.width, png.image.height,
                      std::vector<std::uint8_t>(static_cast<std::size_t>(pixels))};
  constexpr png_color kWhite{255, 255, 255};
  if (png_image_finish_read(&png.image, &kWhite, picture.pixels.data(), 0, nullptr) == 0)
    fail<FileError>(where, " is damaged: ", png.problem());
  return picture;
}

void write_png(const std::filesystem::path& path, std::span<const std::uint8_t> pixels,
               std::int64_t width, std::int64_t height) {
  if (width < 1 || height < 1 || static_cast<std::uint64_t>(width * height) != pixels.size())
    fail("attn: ", pixels.size(), " bytes for a picture of ", width, " x ", height);
  PngImage png;
  png.image.width = static_cast<std::uint32_t>(width);
  png.image.height = static_cast<std::uint32_t>(height);
  png.image.format = PNG_FORMAT_GRAY;
  std::size_t size = 0;
  std::vector<std::byte> bytes;
  const auto written = [&](void* to) {
    return png_image_write_to_memory(&png.image, to, &size, 0, pixels.data(), 0, nullptr) != 0;
  };
  bool well = written(nullptr);  // how many bytes it takes
  bytes.resize(size);
  well = well && written(bytes.data());
  if (!well) fail<FileError>(files::path_text(path), ": ", png.problem());
  files::atomic_write(path, std::span<const std::byte>(bytes));
}

}  // namespace attn::tools
