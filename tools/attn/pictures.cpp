#include "tools/attn/pictures.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/fetch/child.hpp"
#include "attn/tasks/value.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/png.hpp"

namespace attn::tools {

namespace {

namespace fs = std::filesystem;

/// More than attn-picture writes of any file.
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
constexpr std::size_t kHead = 12;

/// What attn-picture wrote: its sizes are believed where the bytes are there.
Film parse_frames(std::span<const std::byte> bytes, const std::string& where) {
  Film film;
  while (!bytes.empty()) {
    std::array<std::uint64_t, 3> head{};
    for (std::size_t i = 0; i < std::min(kHead, bytes.size()); ++i)
      head.at(i / 4) |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * (i % 4));
    const auto [width, height, milliseconds] = head;
    const std::uint64_t size = 3 * width * height;
    if (bytes.size() < kHead || width == 0 || height == 0 || width > kMostBytes / height ||
        size > bytes.size() - kHead)
      fail<FileError>(where, ": attn-picture wrote no picture");
    const auto* pixels = reinterpret_cast<const std::uint8_t*>(bytes.data() + kHead);
    film.frames.push_back({static_cast<std::int64_t>(width), static_cast<std::int64_t>(height),
                           3, std::vector<std::uint8_t>(pixels, pixels + size)});
    film.milliseconds.push_back(static_cast<std::int64_t>(milliseconds));
    bytes = bytes.subspan(kHead + static_cast<std::size_t>(size));
  }
  if (film.frames.empty()) fail<FileError>(where, ": attn-picture wrote no picture");
  return film;
}

Film decode(const fs::path& path, bool all) {
  const std::string where = files::path_text(path);
  const fs::path program = program_beside("attn-picture");
  if (program.empty())
    fail<Unsupported>("attn-picture is not beside this program, so ", where,
                      " cannot be read; build it with the program");
  const tasks::ScratchFolder scratch(tasks::temporary_folder());
  const fs::path out = scratch.path() / "pixels";
  const fs::path log = scratch.path() / "log";
  std::vector<std::string> command{program.string()};
  if (all) command.emplace_back("--frames");
  // "--": a file name may begin with a dash.
  command.insert(command.end(), {"--", path.string()});
  if (tasks::run_program(command, out, log) != tasks::Ended::well) {
    // What it cannot read it says; without a word it has come to grief.
    const std::string complaint = tasks::complaint(log);
    fail<FileError>(complaint.empty() ? where + ": the decoder broke down on it; it is damaged"
                                      : complaint);
  }
  return parse_frames(files::read_bytes(out, kMostBytes).span(), where);
}

}  // namespace

tasks::Picture read_picture(const fs::path& path) {
  return std::move(decode(path, false).frames.front());
}

Film read_film(const fs::path& path) {
  return decode(path, true);
}

const tasks::Picture& picture_of(const tasks::Example& example) {
  for (const auto& [name, value] : example.parts)
    if (const auto* picture = std::get_if<tasks::Picture>(&value)) return *picture;
  fail("attn::tools::picture_of: ", example.id, " has no picture");
}

std::vector<std::string> texts_beside(const tasks::Example& example) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : example.parts)
    if (const auto* text = std::get_if<std::string>(&value)) texts.push_back(*text);
  return texts;
}

std::string picture_file(const tasks::Example& example) {
  return example.id + ".png";
}

void save_pictures(const std::filesystem::path& folder,
                   std::span<const tasks::Example> examples) {
  tasks::make_folder(folder);
  std::string rows;
  std::string list = "captions.tsv";
  for (const tasks::Example& example : examples) {
    const tasks::Picture& picture = picture_of(example);
    write_png(folder / picture_file(example), picture.pixels, picture.width, picture.height,
              picture.channels);
    rows += picture_file(example);
    for (const std::string& text : texts_beside(example)) {
      rows += "\t" + text;
      list = "questions.tsv";
    }
    rows += "\t" + example.targets.front() + "\n";
  }
  files::atomic_write(folder / list, rows);
}

std::string text_art(const tasks::Picture& picture) {
  constexpr std::string_view kShades = " .:-=+*#%@";
  const auto width = static_cast<std::size_t>(picture.width);
  const auto channels = static_cast<std::size_t>(picture.channels);
  const auto light = [&](std::size_t pixel) {
    std::size_t sum = 0;
    for (std::size_t channel = 0; channel < channels; ++channel)
      sum += picture.pixels.at(pixel * channels + channel);
    return sum / channels;
  };
  std::string text;
  for (std::size_t y = 0; y + 1 < static_cast<std::size_t>(picture.height); y += 2) {
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t both = light(y * width + x) + light((y + 1) * width + x);
      text += kShades[both * (kShades.size() - 1) / 510];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

}  // namespace attn::tools
