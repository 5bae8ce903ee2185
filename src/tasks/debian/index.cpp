#include "attn/tasks/debian/index.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
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
#include "attn/tasks/debian/split.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "tasks/debian/kept_candidates.hpp"
#include "tasks/debian/records.hpp"
#include "tasks/fetch/apt.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Raised when the way candidates are made changes, so that older ones are made again.
constexpr const char* kVersion = "1";

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

std::optional<std::string_view> Record::field(std::string_view name) const {
  for (const Field& field : fields_)
    if (same_name(field.name, name)) return field.value;
  return std::nullopt;
}

std::string_view Record::body(std::string_view name) const {
  for (const Field& field : fields_)
    if (same_name(field.name, name)) return field.body;
  return {};
}

bool RecordReader::next(Record& record) {
  record.fields_.clear();
  while (!rest_.empty()) {
    const std::string_view line = take_line(rest_);
    if (trimmed(line).empty()) {
      if (!record.fields_.empty()) return true;
      continue;
    }
    const bool continues = line.front() == ' ' || line.front() == '\t';
    if (continues && !record.fields_.empty()) {
      std::string_view& body = record.fields_.back().body;
      const char* begin = body.empty() ? line.data() : body.data();
      body = {begin, static_cast<std::size_t>(line.data() + line.size() - begin)};
      continue;
    }
    const std::size_t colon = line.find(':');
    if (continues || colon == std::string_view::npos) continue;
    record.fields_.push_back(
        {trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)), {}});
  }
  return !record.fields_.empty();
}

std::string text_of(const KeptCandidates& kept) {
  std::string text = kept.release + "\n";
  for (const auto& [example, package] : kept.candidates)
    ((((((((text += example.id) += '\t') += package) += '\t') += example.source) += '\t') +=
      example.targets[0]) += '\n');
  return text;
}

KeptCandidates candidates_from(std::string_view text) {
  KeptCandidates kept;
  kept.release = take_line(text);
  kept.candidates.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
  while (!text.empty()) {
    std::string_view line = take_line(text);
    std::array<std::string_view, 3> fields;
    for (std::string_view& field : fields) {
      const std::size_t tab = line.find('\t');
      if (tab == std::string_view::npos)
        fail<FileError>("a row of candidates has too few fields");
      field = line.substr(0, tab);
      line.remove_prefix(tab + 1);
    }
    kept.candidates.push_back(
        {{std::string(fields[0]), std::string(fields[2]), {std::string(line)}},
         std::string(fields[1])});
  }
  return kept;
}

KeptCandidates kept_candidates(
    const std::string& name, const std::string& language,
    const std::function<std::vector<Candidate>(const DebianIndex&)>& make, const Say& say) {
  const std::filesystem::path path =
      cache_folder() / "debian-12" / (name + "-candidates-" + kVersion);
  if (const auto text = read_sealed(path)) return candidates_from(*text);
  const DebianIndex index = load_debian(language, say);
  KeptCandidates kept{index.release, make(index)};
  write_sealed(path, text_of(kept));
  return kept;
}

}  // namespace attn::tasks
