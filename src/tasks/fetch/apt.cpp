#include "tasks/fetch/apt.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/fetch/child.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKeys = "/usr/share/keyrings/debian-archive-keyring.gpg";
constexpr const char* kHelper = "/usr/lib/apt/apt-helper";
constexpr std::uint64_t kMostPaths = 1 << 20;

/// $ATTN_DEBIAN_MIRROR, or the first address that the system's own apt fetches from.
std::string mirror(const fs::path& folder) {
  if (const char* chosen = std::getenv("ATTN_DEBIAN_MIRROR");
      chosen != nullptr && *chosen != '\0') {
    const std::string_view text(chosen);
    if (text.find_first_of(" \t\r\n[]#") != std::string_view::npos ||
        text.find(':') == std::string_view::npos)
      fail("ATTN_DEBIAN_MIRROR: ", files::in_quotes(text), " is no address of a mirror");
    return chosen;
  }
  const fs::path out = folder / "mirrors";
  const bool good =
      run_program({"apt-get", "indextargets", "--no-release-info", "--format", "$(REPO_URI)"},
                  out, folder / "log") == Ended::well;
  std::string address = good ? files::read_text(out, kMostPaths) : "";
  address.erase(std::min(address.find('\n'), address.size()));
  if (address.empty())
    fail<Unsupported>(
        "Debian's package descriptions are fetched with apt-get, which is not here or knows no "
        "mirror; name one in ATTN_DEBIAN_MIRROR, or give a file with --data");
  return address;
}

/// Everything apt reads, keeps or runs is named, so that nothing of the system's is changed.
/// The lists `#clear`ed are those that parts of the system's configuration add to: container
/// images switch languages off and hang commands on an update.
std::string configuration(const fs::path& folder, const std::vector<std::string>& languages) {
  const std::string root = folder.string();
  if (root.find_first_of("\"\\\n;") != std::string::npos)
    fail<FileError>(files::path_text(folder),
                    ": apt cannot be told of this folder; set XDG_CACHE_HOME to another");
  std::string text;
  for (const char* list :
       {"Acquire::Languages", "APT::Architectures", "APT::Update::Pre-Invoke",
        "APT::Update::Post-Invoke", "APT::Update::Post-Invoke-Success", "DPkg::Post-Invoke"})
    text += std::string("#clear ") + list + ";\n";
  text += "APT::Architecture \"amd64\";\nAPT::Architectures { \"amd64\"; };\n";
  text += "Acquire::Languages {";
  for (const std::string& language : languages) text += " \"" + language + "\";";
  text += " };\n";
  const std::pair<const char*, const char*> paths[] = {{"State", "State"},
                                                       {"Cache", "Cache"},
                                                       {"Log", "Log"},
                                                       {"State::lists", "lists"},
                                                       {"State::status", "status"},
                                                       {"Etc::sourcelist", "sources.list"},
                                                       {"Etc::sourceparts", "none"},
                                                       {"Etc::preferences", "none.pref"},
                                                       {"Etc::preferencesparts", "none"}};
  for (const auto& [name, path] : paths)
    text += std::string("Dir::") + name + " \"" + root + "/" + path + "\";\n";
  // As root, apt would otherwise fetch as a user who may not enter a home folder.
  text += "APT::Sandbox::User \"root\";\n";
  // Without a network it is told so in seconds.
  text += "Acquire::Retries \"0\";\n";
  for (const char* method : {"http", "https"})
    text += std::string("Acquire::") + method + "::Timeout \"15\";\n";
  // An index that could not be fetched is an error and not a warning.
  text += "APT::Update::Error-Mode \"any\";\n";
  return text;
}

void prepare(const fs::path& folder, const std::vector<std::string>& languages) {
  for (const char* name : {"State", "Cache/archives/partial", "Log", "lists/partial", "none"})
    make_folder(folder / name);
  files::atomic_write(folder / "status", std::string_view());
  files::atomic_write(folder / "apt.conf", configuration(folder, languages));
  files::atomic_write(folder / "sources.list", "deb [signed-by=" + std::string(kKeys) +
                                                   " targets=Packages,Translations] " +
                                                   mirror(folder) + " bookworm main\n");
}

void update(const fs::path& folder) {
  const fs::path log = folder / "log";
  const Ended ended =
      run_program({"apt-get", "-c", (folder / "apt.conf").string(), "-q", "update"}, log);
  if (ended == Ended::not_started)
    fail<Unsupported>(
        "apt-get is needed to fetch Debian's package descriptions and is not here; on systems "
        "other than Debian and Ubuntu install the package apt, or give a file with --data");
  if (ended == Ended::badly)
    fail<FileError>(
        "apt could not fetch Debian's package descriptions; is there a network, and "
        "room on the disk? It said: ",
        complaint(log));
}

/// The file apt keeps an index in, which may be compressed.
std::string target(const fs::path& folder, const std::vector<std::string>& filter,
                   const std::string& what) {
  std::vector<std::string> command{"apt-get",      "-c",       (folder / "apt.conf").string(),
                                   "indextargets", "--format", "$(FILENAME)"};
  command.insert(command.end(), filter.begin(), filter.end());
  const fs::path out = folder / "paths";
  const bool good = run_program(command, out, folder / "log") == Ended::well;
  std::string path = good ? files::read_text(out, kMostPaths) : "";
  path.erase(std::min(path.find('\n'), path.size()));
  if (path.empty())
    fail<FileError>("Debian's mirror has no ", what,
                    "; another can be named in "
                    "ATTN_DEBIAN_MIRROR. ",
                    complaint(folder / "log"));
  return path;
}

void unpack(const fs::path& folder, const std::string& from, const fs::path& to) {
  const fs::path log = folder / "log";
  const Ended ended = run_program({kHelper, "cat-file", from}, to, log);
  if (ended != Ended::well)
    fail<FileError>(kHelper,
                    ended == Ended::badly ? " could not read " : " is missing to read ",
                    files::printable(from), "; ", complaint(log));
}

/// The file of signatures begins with what release this is.
void copy_release(const fs::path& lists, const fs::path& to) {
  for (const auto& entry : fs::directory_iterator(lists))
    if (entry.path().string().ends_with("Release")) {
      std::error_code error;
      fs::copy_file(entry.path(), to, fs::copy_options::overwrite_existing, error);
      if (error) fail<FileError>(files::path_text(to), ": ", error.message());
      return;
    }
  fail<FileError>("apt left no Release in ", files::path_text(lists));
}

}  // namespace

void fetch_debian(const std::vector<std::string>& languages, const fs::path& folder,
                  const Say& say) {
  if (!fs::exists(kKeys))
    fail<Unsupported>(kKeys,
                      " is missing, with which Debian signs its indexes; "
                      "try: sudo apt-get install debian-archive-keyring");
  std::string named;
  for (const std::string& language : languages) named += " " + language;
  tell(say, "fetching the descriptions of Debian 12's packages in" + named +
                " with apt, about 20 MB");
  const ScratchFolder scratch(cache_folder());
  prepare(scratch.path(), languages);
  update(scratch.path());
  tell(say, "unpacking them");
  make_folder(folder);
  unpack(scratch.path(), target(scratch.path(), {"Created-By: Packages"}, "index of packages"),
         folder / "Packages");
  for (const std::string& language : languages)
    unpack(scratch.path(),
           target(scratch.path(), {"Created-By: Translations", "Language: " + language},
                  "descriptions in the language " + files::in_quotes(language)),
           folder / ("Translation-" + language));
  copy_release(scratch.path() / "lists", folder / "Release");
}

void fetch_debian_files(const DebianPackage& package, const std::string& folder,
                        const fs::path& to, const Say& say) {
  const ScratchFolder scratch(cache_folder());
  const fs::path log = scratch.path() / "log";
  const fs::path file = scratch.path() / "package.deb";
  const fs::path archive = scratch.path() / "files.tar";
  tell(say, "fetching " + fs::path(package.place).filename().string() + " with apt, " +
                package.size);
  const auto run = [&](const std::vector<std::string>& command, const fs::path& out,
                       const std::string& failed) {
    const Ended ended = run_program(command, out, log);
    if (ended == Ended::not_started)
      fail<Unsupported>(command.front(),
                        " is needed and is not here; it is part of Debian and "
                        "of Ubuntu");
    if (ended == Ended::badly) fail<FileError>(failed, "; ", complaint(log));
  };
  std::string address = mirror(scratch.path());
  while (address.ends_with('/')) address.pop_back();
  // As root, apt would otherwise fetch as a user who may not enter a home folder.
  run({kHelper, "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=0", "download-file",
       address + "/pool/" + package.place, file.string(), "SHA256:" + package.sha256},
      scratch.path() / "out",
      "apt could not fetch " + package.place + "; is there a network, and room on the disk?");
  tell(say, "unpacking it");
  make_folder(to);
  run({"dpkg-deb", "--fsys-tarfile", file.string()}, archive,
      "dpkg-deb could not open " + package.place);
  run({"tar", "-x", "-f", archive.string(), "-C", to.string(), "--no-same-owner", "--wildcards",
       "./" + folder + "*"},
      scratch.path() / "out", "tar could not unpack " + package.place);
}

}  // namespace attn::tasks
