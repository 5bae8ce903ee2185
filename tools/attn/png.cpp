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

namespace attn::tools {
namespace {

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

void write_png(const std::filesystem::path& path, std::span<const std::uint8_t> pixels,
               std::int64_t width, std::int64_t height, std::int64_t channels) {
  if (width < 1 || height < 1 || (channels != 1 && channels != 3) ||
      static_cast<std::uint64_t>(width * height * channels) != pixels.size())
    fail("attn: ", pixels.size(), " bytes for a picture of ", width, " x ", height, " x ",
         channels);
  PngImage png;
  png.image.width = static_cast<std::uint32_t>(width);
  png.image.height = static_cast<std::uint32_t>(height);
  png.image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
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
