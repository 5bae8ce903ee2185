#include "tasks/watch/clips.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/fetch/apt.hpp"
#include "tasks/loading.hpp"
#include "tasks/watch/sprite.hpp"

namespace attn::tasks::watch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFewestFrames = 3;
constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 20;  ///< of one picture
constexpr const char* kUnits = "usr/share/games/wesnoth/1.16/data/core/images/units/";
constexpr const char* kCache = "watch/wesnoth-1.16-data-1.16.9-1.clips";
constexpr std::size_t kPixels = static_cast<std::size_t>(kSide * kSide * 3);

DebianPackage package() {
  return {"main/w/wesnoth-1.16/wesnoth-1.16-data_1.16.9-1_all.deb",
          "1012b964bd412a6770685e3324ae3b61e176caff7846192d1ee63d55cd621e26", "146 MB"};
}

/// Words of file names, by what is done.
const std::map<std::string, std::string, std::less<>>& words() {
  static const std::map<std::string, std::string, std::less<>> kWords = [] {
    const std::vector<std::pair<const char*, std::vector<const char*>>> all{
        {"die", {"die", "die2", "death", "dying"}},
        {"idle", {"idle", "idle2", "stand", "standing", "bob", "taunt", "lead", "leading"}},
        {"move", {"run", "fly", "flying", "hover", "soar", "walk", "move", "takeoff"}},
        {"ranged",
         {"bow", "ranged", "throw", "sling", "crossbow", "javelin", "inhale", "fire", "bolas",
          "launch", "longbow", "thunderstick", "net"}},
        {"magic", {"magic", "heal", "healing", "lightning", "halo", "teleport", "wail"}},
        {"melee", {"attack",  "melee",  "sword",  "blade", "axe",     "hammer",   "slash",
                   "bite",    "claws",  "2claws", "kick",  "mace",    "pincer",   "sting",
                   "stinger", "impact", "spear",  "staff", "dagger",  "fist",     "pierce",
                   "tail",    "punch",  "crush",  "club",  "trident", "touch",    "scythe",
                   "lance",   "horn",   "charge", "knife", "ram",     "baneblade"}}};
    std::map<std::string, std::string, std::less<>> map;
    for (const auto& [action, names] : all)
      for (const char* name : names) map.emplace(name, action);
    return map;
  }();
  return kWords;
}

/// The number that a name ends with, and what stands before it.
std::optional<std::pair<std::string_view, int>> numbered(std::string_view name) {
  std::size_t begin = name.size();
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
  int number = 0;
  const auto [end, error] =
      std::from_chars(name.data() + begin, name.data() + name.size(), number);
  if (begin == name.size() || error != std::errc() || end != name.data() + name.size())
    return std::nullopt;
  std::string_view stem = name.substr(0, begin);
  if (!stem.empty() && stem.back() == '-') stem.remove_suffix(1);
  return std::pair(stem, number);
}

/// Men and women of a unit are one.
std::string without_sex(std::string name) {
  constexpr std::string_view kFemale = "+female";
  for (std::size_t at = name.find(kFemale); at != std::string::npos; at = name.find(kFemale))
    name.erase(at, kFemale.size());
  return name;
}

using Series = std::map<std::string, std::map<int, fs::path>>;

/// Files by the name of their series and their number in it.
Series series_in(const fs::path& folder) {
  Series all;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->is_regular_file(error) || entry->path().extension() != ".png") continue;
    const std::string relative =
        entry->path().lexically_relative(folder).replace_extension().generic_string();
    if (const auto name = numbered(relative))
      all[std::string(name->first)][name->second] = entry->path();
  }
  if (error) fail<FileError>(files::path_text(folder), ": ", error.message());
  return all;
}

Example clip_of(const std::string& id, const SeriesName& name, Frames frames) {
  Example example{.id = id, .source = "", .targets = {name.action}};
  example.parts = {{"frames", std::move(frames)}};
  return example;
}

std::vector<Example> clips_in(const fs::path& folder) {
  std::vector<Example> clips;
  for (const auto& [path, pictures] : series_in(folder)) {
    const auto name = parse_series(path);
    if (!name || pictures.size() < kFewestFrames) continue;
    std::vector<fs::path> files;
    for (const auto& [number, file] : pictures) files.push_back(file);
    Frames frames;
    for (std::int64_t i = 0; i < kFrames; ++i) {
      const fs::path& file =
          files[static_cast<std::size_t>(i) * files.size() / static_cast<std::size_t>(kFrames)];
      const files::Bytes bytes = files::read_bytes(file, kMostBytes);
      frames.push_back(on_white(read_sprite(bytes.span(), files::path_text(file)), kSide));
    }
    clips.push_back(clip_of(path, *name, std::move(frames)));
  }
  return clips;
}

std::vector<Example> fetched_clips(const Say& say) {
  const fs::path cache = cache_folder() / kCache;
  if (const auto kept = read_sealed(cache)) return unpacked(*kept, files::path_text(cache));
  const ScratchFolder scratch(cache_folder());
  fetch_debian_files(package(), kUnits, scratch.path(), say);
  std::vector<Example> clips = clips_in(scratch.path() / kUnits);
  if (clips.empty()) fail<FileError>("the package has no animations in ", kUnits);
  make_folder(cache.parent_path());
  write_sealed(cache, packed(clips));
  return clips;
}

}  // namespace

const std::vector<std::string>& actions() {
  static const std::vector<std::string> kActions{"die",   "idle", "magic",
                                                 "melee", "move", "ranged"};
  return kActions;
}

std::optional<SeriesName> parse_series(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder(slash == std::string_view::npos ? "" : path.substr(0, slash + 1));
  std::string_view rest = slash == std::string_view::npos ? path : path.substr(slash + 1);
  std::string unit;
  for (bool first = true; !rest.empty(); first = false) {
    const std::string_view word = rest.substr(0, rest.find('-'));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const auto at = words().find(word);
    if (!first && at != words().end())
      return SeriesName{without_sex(folder + unit), at->second};
    unit += (unit.empty() ? "" : "-") + std::string(word);
  }
  return std::nullopt;
}

Frames eight_of(const Frames& frames) {
  Frames eight;
  for (std::size_t i = 0; i < static_cast<std::size_t>(kFrames) && !frames.empty(); ++i)
    eight.push_back(frames[i * frames.size() / static_cast<std::size_t>(kFrames)]);
  return eight;
}

Picture fitted(const Picture& picture) {
  Sprite sprite{picture.width, picture.height, {}};
  const auto count = static_cast<std::size_t>(picture.width * picture.height);
  const auto channels = static_cast<std::size_t>(picture.channels);
  sprite.pixels.reserve(count * 4);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t channel = 0; channel < 3; ++channel)
      sprite.pixels.push_back(picture.pixels[i * channels + (channels == 3 ? channel : 0)]);
    sprite.pixels.push_back(255);
  }
  return on_white(sprite, kSide);
}

std::int64_t fold_of(const std::string& unit) {
  constexpr std::uint64_t kFolds = 5;
  return static_cast<std::int64_t>(split_hash(unit, 3) % kFolds) + 1;
}

std::string packed(const std::vector<Example>& clips) {
  std::string text;
  for (const Example& clip : clips) {
    text += clip.id + "\n" + clip.targets.front() + "\n";
    for (const Picture& frame : std::get<Frames>(clip.parts.at("frames")))
      text.append(frame.pixels.begin(), frame.pixels.end());
  }
  return text;
}

std::vector<Example> unpacked(std::string_view text, const std::string& where) {
  std::vector<Example> clips;
  while (!text.empty()) {
    const std::string id(take_line(text));
    const std::string action(take_line(text));
    const auto name = parse_series(id);
    if (!name || name->action != action || text.size() < kPixels * kFrames)
      fail<FileError>(where, " is damaged at clip ", clips.size() + 1);
    Frames frames;
    for (std::int64_t i = 0; i < kFrames; ++i) {
      frames.push_back({kSide, kSide, 3, {text.begin(), text.begin() + kPixels}});
      text.remove_prefix(kPixels);
    }
    clips.push_back(clip_of(id, *name, std::move(frames)));
  }
  return clips;
}

Corpus clip_corpus(std::int64_t fold, const Say& say) {
  Corpus corpus;
  corpus.name = "animations of Battle for Wesnoth 1.16, fold " + std::to_string(fold);
  for (Example& clip : fetched_clips(say)) {
    const std::optional<SeriesName> series = parse_series(clip.id);
    if (!series) fail("attn::tasks::watch: ", files::in_quotes(clip.id), " names no animation");
    const std::int64_t own = fold_of(series->unit);
    std::vector<Example>& part = own == fold           ? corpus.test
                                 : own == fold % 5 + 1 ? corpus.development
                                                       : corpus.train;
    part.push_back(std::move(clip));
  }
  return corpus;
}

}  // namespace attn::tasks::watch
