#include "attn/tasks/fetch/cache.hpp"

#include <stdlib.h>  // mkdtemp

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

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

}  // namespace

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    fail<FileError>(files::path_text(folder), ": the folder cannot be made: ", error.message());
}

fs::path cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  fs::path folder;
  if (cache != nullptr && *cache != '\0') {
    folder = fs::path(cache) / "attn";
  } else if (home != nullptr && *home != '\0') {
    folder = fs::path(home) / ".cache" / "attn";
  } else {
    fail<FileError>("there is no place for a cache; set HOME or XDG_CACHE_HOME");
  }
  make_folder(folder);
  return folder;
}

ScratchFolder::ScratchFolder(const fs::path& parent) {
  std::string name = (parent / "fetch.XXXXXX").string();
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
