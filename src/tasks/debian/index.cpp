#include "attn/tasks/debian/index.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "tasks/debian/records.hpp"
#include "tasks/fetch/apt.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

struct Origin {
  std::string_view source;
  std::string_view section;
};

std::unordered_map<std::string_view, Origin> origins_of(std::string_view packages) {
  std::unordered_map<std::string_view, Origin> origins;
  RecordReader reader(packages);
  Record record;
  while (reader.next(record)) {
    const auto package = record.field("Package");
    if (!package) continue;
    // "gcc-12 (12.2.0-14)": the version is named where it differs.
    std::string_view source = record.field("Source").value_or(*package);
    source = source.substr(0, source.find(' '));
    origins.emplace(*package, Origin{source, record.field("Section").value_or("")});
  }
  return origins;
}

std::string_view release_of(std::string_view text) {
  RecordReader reader(text);
  Record record;
  while (reader.next(record))
    if (const auto version = record.field("Version")) return *version;
  return "unknown";
}

struct Cached {
  std::string english;
  std::string translations;
};

/// Both or nothing: what was fetched together belongs together.
std::optional<Cached> from_cache(const fs::path& folder, const std::string& language) {
  auto english = read_sealed(folder / "descriptions-en");
  if (!english) return std::nullopt;
  if (language.empty()) return Cached{std::move(*english), ""};
  auto translations = read_sealed(folder / ("descriptions-" + language));
  if (!translations) return std::nullopt;
  return Cached{std::move(*english), std::move(*translations)};
}

void fetch_to_cache(const fs::path& folder, const std::string& language, const Say& say) {
  const ScratchFolder scratch(cache_folder());
  std::vector<std::string> languages{"en"};
  if (!language.empty()) languages.push_back(language);
  fetch_debian(languages, scratch.path(), say);
  const auto read = [&](const std::string& name) {
    return files::read_text(scratch.path() / name, kMostBytes);
  };
  const std::string release = read("Release");
  if (!language.empty())
    write_sealed(folder / ("descriptions-" + language), read("Translation-" + language));
  write_sealed(folder / "descriptions-en",
               merge_english(read("Packages"), read("Translation-en"), release_of(release)));
}

}  // namespace

std::string merge_english(std::string_view packages, std::string_view translations,
                          std::string_view release) {
  const auto origins = origins_of(packages);
  std::string merged = "Release: " + std::string(release) + "\n\n";
  merged.reserve(translations.size() * 5 / 4);
  const auto add = [&](const char* name, std::string_view value) {
    ((((merged += name) += ": ") += value) += '\n');
  };
  RecordReader reader(translations);
  Record record;
  while (reader.next(record)) {
    const auto package = record.field("Package");
    const auto md5 = record.field("Description-md5");
    const auto synopsis = record.field("Description-en");
    if (!package || !md5 || !synopsis) continue;
    const auto origin = origins.find(*package);
    // A package of another architecture alone: its name is the best guess.
    add("Package", *package);
    add("Source", origin == origins.end() ? *package : origin->second.source);
    add("Section", origin == origins.end() ? "" : origin->second.section);
    add("Description-md5", *md5);
    add("Description-en", *synopsis);
    if (!record.body("Description-en").empty())
      (merged += record.body("Description-en")) += '\n';
    merged += '\n';
  }
  return merged;
}

DebianIndex parse_debian(std::string english, std::string translations,
                         std::string_view language) {
  DebianIndex index;
  index.texts.push_back(std::move(english));
  index.texts.push_back(std::move(translations));
  RecordReader reader(index.texts[0]);
  Record record;
  while (reader.next(record)) {
    if (const auto release = record.field("Release")) index.release = *release;
    const auto package = record.field("Package");
    const auto md5 = record.field("Description-md5");
    const auto synopsis = record.field("Description-en");
    if (!package || !md5 || !synopsis || synopsis->empty()) continue;
    index.english.push_back({*md5, *package, record.field("Source").value_or(*package),
                             record.field("Section").value_or(""), *synopsis,
                             record.body("Description-en")});
  }
  const std::string field = "Description-" + std::string(language);
  RecordReader other(index.texts[1]);
  while (other.next(record)) {
    const auto md5 = record.field("Description-md5");
    const auto synopsis = record.field(field);
    if (md5 && synopsis)
      index.translated.emplace(*md5, Translated{*synopsis, record.body(field)});
  }
  return index;
}

DebianIndex load_debian(const std::string& language, const Say& say) {
  const fs::path folder = cache_folder() / "debian-12";
  auto cached = from_cache(folder, language);
  if (!cached) {
    fetch_to_cache(folder, language, say);
    cached = from_cache(folder, language);
    if (!cached)
      fail<FileError>(files::path_text(folder), ": what was just written cannot be read back");
  }
  return parse_debian(std::move(cached->english), std::move(cached->translations), language);
}

}  // namespace attn::tasks
