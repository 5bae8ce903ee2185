#include "tools/attn/sound.hpp"

#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/fetch/child.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "tools/attn/model_folder.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSamples = "samples";
constexpr std::uint64_t kLongestNotes = 1 << 16;

/// What the program said, a line each.
std::vector<std::string> lines_of(const fs::path& log) {
  std::vector<std::string> lines;
  std::istringstream text(files::read_text(log, kLongestNotes));
  for (std::string line; std::getline(text, line);)
    lines.push_back(files::printable(line, 400));
  return lines;
}

/// Decodes into the folder; what the program tells of the file.
std::vector<std::string> decode(const fs::path& path, const fs::path& folder) {
  const fs::path program = program_beside("attn-sound");
  if (program.empty())
    fail<Unsupported>("attn-sound was not built, so ", files::path_text(path),
                      " cannot be read: it needs libsndfile and libsoxr (on Debian "
                      "libsndfile1-dev and libsoxr-dev)");
  const fs::path log = folder / "log";
  // "--": a file name may begin with a dash.
  const tasks::Ended ended =
      tasks::run_program({program.string(), "--", path.string()}, folder / kSamples, log);
  const std::vector<std::string> lines = lines_of(log);
  if (ended == tasks::Ended::well) return lines;
  // What it cannot read it says in one line; without a word it has come to grief.
  fail<FileError>(lines.empty()
                      ? files::path_text(path) + ": the decoder broke down on it; it is damaged"
                      : lines.back());
}

}  // namespace

SoundInput::SoundInput(const fs::path& path)
    : scratch_(tasks::temporary_folder()),
      notes_(decode(path, scratch_.path())),
      samples_(scratch_.path() / kSamples) {
  // What is open can be read without its name: whatever ends the program, nothing stays.
  std::error_code ignored;
  fs::remove(scratch_.path() / kSamples, ignored);
}

}  // namespace attn::tools
