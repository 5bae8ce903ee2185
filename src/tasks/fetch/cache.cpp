#include "attn/tasks/fetch/cache.hpp"

#include <stdlib.h>  // mkdtemp

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/text/sha256.hpp"

namespace attn::tasks {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSeal = "attn-cache 1 ";
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

constexpr std::string_view kScratch = "fetch.";
constexpr std::size_t kRandomLetters = 6;  // as mkdtemp makes them
constexpr auto kOld = std::chrono::hours(24);

/// Empty where the environment names no place.
fs::path cache_path() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && *cache != '\0') return fs::path(cache) / "attn";
  if (home != nullptr && *home != '\0') return fs::path(home) / ".cache" / "attn";
  return {};
}

bool is_left_over(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  std::error_code error;
  if (!name.starts_with(kScratch) || name.size() != kScratch.size() + kRandomLetters ||
      entry.is_symlink(error) || !entry.is_directory(error))
    return false;
  const fs::file_time_type written = entry.last_write_time(error);
  return !error && fs::file_time_type::clock::now() - written > kOld;
}

/// Nothing here is an error: what cannot be looked at or removed stays.
void remove_left_over(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> old;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (is_left_over(*entry)) old.push_back(entry->path());
  for (const fs::path& path : old) fs::remove_all(path, error);
}

}  // namespace

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    fail<FileError>(files::path_text(folder), ": the folder cannot be made: ", error.message());
}

fs::path cache_folder() {
  fs::path folder = cache_path();
  if (folder.empty())
    fail<FileError>("there is no place for a cache; set HOME or XDG_CACHE_HOME");
  make_folder(folder);
  return folder;
}

fs::path temporary_folder() {
  std::error_code error;
  fs::path folder = fs::temp_directory_path(error);
  if (!error) return folder;
  std::string looked = "/tmp";
  // Of those that are set the system takes the last of this list.
  for (const char* name : {"TEMPDIR", "TEMP", "TMP", "TMPDIR"})
    if (const char* value = std::getenv(name))
      looked = std::string(name) + "=" + files::printable(value);
  fail<FileError>("there is no folder for temporary files: ", looked, ": ", error.message(),
                  "; set TMPDIR to a folder that can be written");
}

ScratchFolder::ScratchFolder(const fs::path& parent) {
  // Elsewhere folders of that name may be another program's.
  if (parent == cache_path()) remove_left_over(parent);
  std::string name = (parent / kScratch).string() + std::string(kRandomLetters, 'X');
  if (mkdtemp(name.data()) == nullptr)
    fail<FileError>(files::path_text(parent), ": ", std::strerror(errno));
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void write_sealed(const fs::path& path, std::string_view body) {
  make_folder(path.parent_path());
  files::AtomicFile file(path);
  file.write(std::string(kSeal) + text::sha256_hex(std::as_bytes(std::span(body))) + "\n");
  file.write(body);
  file.commit();
}

std::optional<std::string> read_sealed(const fs::path& path) {
  std::string content;
  try {
    content = files::read_text(path, kMostBytes);
  } catch (const FileError&) {
    return std::nullopt;
  }
  const std::size_t end = content.find('\n');
  if (end == std::string::npos || !content.starts_with(kSeal)) return std::nullopt;
  const std::string sum = content.substr(kSeal.size(), end - kSeal.size());
  content.erase(0, end + 1);
  if (text::sha256_hex(std::as_bytes(std::span(content))) != sum) return std::nullopt;
  return content;
}

}  // namespace attn::tasks
