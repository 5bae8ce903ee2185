#include "tools/attn/pictures.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/value.hpp"
#include "tools/attn/png.hpp"

namespace attn::tools {

tasks::Picture read_picture(const std::filesystem::path& path) {
  GreyPicture grey = read_png(path);
  return {grey.width, grey.height, 1, std::move(grey.pixels)};
}

const tasks::Picture& picture_of(const tasks::Example& example) {
  for (const auto& [name, value] : example.parts)
    if (const auto* picture = std::get_if<tasks::Picture>(&value)) return *picture;
  fail("attn::tools::picture_of: ", example.id, " has no picture");
}

std::string picture_file(const tasks::Example& example) {
  return example.id + ".png";
}

void save_pictures(const std::filesystem::path& folder,
                   std::span<const tasks::Example> examples) {
  tasks::make_folder(folder);
  std::string rows;
  for (const tasks::Example& example : examples) {
    const tasks::Picture& picture = picture_of(example);
    write_png(folder / picture_file(example), picture.pixels, picture.width, picture.height);
    rows += picture_file(example) + "\t" + example.targets.front() + "\n";
  }
  files::atomic_write(folder / "captions.tsv", rows);
}

std::string text_art(const tasks::Picture& picture) {
  constexpr std::string_view kShades = " .:-=+*#%@";
  const auto width = static_cast<std::size_t>(picture.width);
  std::string text;
  for (std::size_t y = 0; y + 1 < static_cast<std::size_t>(picture.height); y += 2) {
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t both = std::size_t{picture.pixels.at(y * width + x)} +
                               picture.pixels.at((y + 1) * width + x);
      text += kShades[both * (kShades.size() - 1) / 510];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

}  // namespace attn::tools
