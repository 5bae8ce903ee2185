#include "attn/tasks/fetch/prepared.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
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

constexpr std::uint64_t kMostPrepared = std::uint64_t{256} << 20;

bool is_packed(const PreparedFile& file) {
  return file.name.ends_with(".xz");
}

/// Another version of a file has another checksum, and so another place.
fs::path place_of(const PreparedFile& file) {
  return cache_folder() / "prepared" / (file.sha256.substr(0, 12) + "-" + file.name);
}

void check_sum(const PreparedFile& file, const fs::path& path) {
  const auto bytes = files::read_bytes(path, kMostPrepared);
  const std::string sum = text::sha256_hex(bytes.span());
  if (sum != file.sha256)
    fail<FileError>(files::path_text(path), " has the SHA-256 ", sum, "; the one of ",
                    file.sha256, " is accepted (", file.source, ")");
}

std::string unpacked(const fs::path& path) {
  const ScratchFolder scratch(cache_folder());
  const fs::path out = scratch.path() / "text";
  const fs::path errors = scratch.path() / "errors";
  switch (run_program({"xz", "-dc", path.string()}, out, errors)) {
    case Ended::well:
      return files::read_text(out, kMostPrepared);
    case Ended::badly:
      fail<FileError>(files::path_text(path), " cannot be unpacked: ", complaint(errors));
    case Ended::not_started:
      break;
  }
  fail<FileError>("the program xz, which unpacks ", files::path_text(path),
                  ", is not here; on Debian: apt-get install xz-utils");
}

}  // namespace

std::vector<std::string> take_prepared(const fs::path& folder,
                                       std::span<const PreparedFile> wanted, const Say& say) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    fail<FileError>(files::path_text(folder), " is no folder; one with prepared files is");
  std::vector<const PreparedFile*> there;
  std::string names;
  for (const PreparedFile& file : wanted) {
    names += (names.empty() ? "" : ", ") + file.name;
    if (!fs::exists(folder / file.name, ignored)) continue;
    check_sum(file, folder / file.name);
    there.push_back(&file);
  }
  if (there.empty())
    fail<FileError>(files::path_text(folder), " has none of the files that are taken: ", names);
  make_folder(cache_folder() / "prepared");
  std::vector<std::string> taken;
  for (const PreparedFile* file : there) {
    tell(say, "taking " + file->name);
    const fs::path path = folder / file->name;
    write_sealed(place_of(*file),
                 is_packed(*file) ? unpacked(path) : files::read_text(path, kMostPrepared));
    taken.push_back(file->name);
  }
  return taken;
}

bool has_prepared(const PreparedFile& file) {
  std::error_code ignored;
  return fs::exists(place_of(file), ignored);
}

std::string read_prepared(const PreparedFile& file, const std::string& task) {
  std::optional<std::string> text = read_sealed(place_of(file));
  if (!text)
    fail<FileError>("the data of ", task, " is not here: ", file.name, ", prepared from ",
                    file.source, ". With that file (SHA-256 ", file.sha256,
                    ") in a folder: attn data ", task, " --from FOLDER");
  return *std::move(text);
}

}  // namespace attn::tasks
