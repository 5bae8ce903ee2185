#include "tools/attn/caption_samples.hpp"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attn/files/atomic_write.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "tools/attn/png.hpp"

namespace attn::tools {

std::string sample_name(std::size_t index) {
  return fmt::format("canvas-{:04}.png", index);
}

void save_samples(const std::filesystem::path& folder,
                  const std::vector<tasks::Canvas>& canvases) {
  tasks::make_folder(folder);
  std::string rows;
  for (std::size_t i = 0; i < canvases.size(); ++i) {
    write_png(folder / sample_name(i), canvases[i].pixels, tasks::kCanvasSide,
              tasks::kCanvasSide);
    rows += sample_name(i) + "\t" + canvases[i].caption + "\n";
  }
  files::atomic_write(folder / "captions.tsv", rows);
}

std::string text_art(const std::vector<std::uint8_t>& canvas) {
  constexpr std::string_view kShades = " .:-=+*#%@";
  constexpr auto kSide = static_cast<std::size_t>(tasks::kCanvasSide);
  std::string text;
  for (std::size_t y = 0; y + 1 < kSide; y += 2) {
    for (std::size_t x = 0; x < kSide; ++x) {
      const std::size_t both =
          std::size_t{canvas.at(y * kSide + x)} + canvas.at((y + 1) * kSide + x);
      text += kShades[both * (kShades.size() - 1) / 510];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

}  // namespace attn::tools
