#include "tools/attn/output_path.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

/// "" is the folder one is in.
fs::path or_here(const fs::path& folder) {
  return folder.empty() ? fs::path(".") : folder;
}

void check_writable(const fs::path& folder, const fs::path& asked) {
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    fail<FileError>(files::path_text(asked), " cannot be written: ", files::path_text(folder),
                    ": ", std::strerror(errno));
}

}  // namespace

void check_output_file(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    fail<FileError>(files::path_text(path), " is a folder; the name of a file is accepted");
  // A link is followed when it is written; where it ends, need not be here.
  if (fs::is_symlink(path, ignored)) return;
  const fs::path folder = or_here(path.parent_path());
  if (!fs::is_directory(folder, ignored))
    fail<FileError>(files::path_text(path), " cannot be written: there is no folder ",
                    files::path_text(folder));
  check_writable(folder, path);
}

void check_output_folder(const fs::path& folder) {
  std::error_code ignored;
  fs::path there = folder;
  while (!there.empty() && !fs::exists(there, ignored)) there = there.parent_path();
  there = or_here(there);
  if (!fs::is_directory(there, ignored))
    fail<FileError>(files::path_text(folder),
                    ": the folder cannot be made: ", files::path_text(there), " is no folder");
  check_writable(there, folder);
}

}  // namespace attn::tools
