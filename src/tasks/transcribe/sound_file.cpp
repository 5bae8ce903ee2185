// Sound files of users, decoded by the program attn-sound.

// SPDX-License-Identifier: Apache-2.0

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
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
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSamples = "samples";
constexpr std::uint64_t kLongestLog = 1 << 16;
/// Samples that take more than this are told of before they are written: 2.2 hours.
constexpr double kMuchRoom = 500e6;
/// A smaller file hardly holds so many, and is decoded without a look at its header.
constexpr std::uintmax_t kSmall = 128 << 10;

fs::path sound_program(const fs::path& path) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  fs::path program = (error ? fs::path(".") : self.parent_path()) / "attn-sound";
  if (fs::exists(program, error)) return program;
  fail<Unsupported>("attn-sound was not built, so ", files::path_text(path),
                    " cannot be read: it needs libsndfile and libsoxr (on Debian "
                    "libsndfile1-dev and libsoxr-dev)");
}

/// What the program said, a line each.
std::vector<std::string> lines_of(const fs::path& log) {
  std::vector<std::string> lines;
  std::istringstream text(files::read_text(log, kLongestLog));
  for (std::string line; std::getline(text, line);)
    lines.push_back(files::printable(line, 400));
  return lines;
}

/// Runs attn-sound on a file, its output going to `out`; the lines it said.
std::vector<std::string> run_sound(const fs::path& path, const std::vector<std::string>& flags,
                                   const fs::path& out, const fs::path& log) {
  std::vector<std::string> words{sound_program(path).string()};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {"--", path.string()});  // a name may begin with a dash
  const Ended ended = run_program(words, out, log);
  std::vector<std::string> lines = lines_of(log);
  if (ended == Ended::well) return lines;
  // What it cannot read it says in one line; without a word it has come to grief.
  fail<FileError>(lines.empty()
                      ? files::path_text(path) + ": the decoder broke down on it; it is damaged"
                      : lines.back());
}

std::string megabytes(double bytes) {
  return std::to_string(std::llround(bytes / 1e6)) + " MB";
}

/// Tells how much room the samples will take where that is much; FileError where there is not
/// so much.
void check_room(const fs::path& path, const fs::path& scratch, const Say& say) {
  std::error_code error;
  if (fs::file_size(path, error) < kSmall || error) return;
  const fs::path told = scratch / "seconds";
  run_sound(path, {"--seconds"}, told, scratch / "log");
  const std::string text = files::read_text(told, kLongestLog);
  double seconds = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  const double bytes = seconds * static_cast<double>(kSpeechRate * sizeof(float));
  if (!(bytes > kMuchRoom)) return;
  char hours[32];
  std::snprintf(hours, sizeof hours, "%.1f hours", seconds / 3600.0);
  const std::string room = files::path_text(path) + " lasts " + hours + ": its samples take " +
                           megabytes(bytes) + " in " + files::path_text(scratch.parent_path());
  const fs::space_info space = fs::space(scratch, error);
  if (!error && static_cast<double>(space.available) < bytes)
    fail<FileError>(room, ", where ", megabytes(static_cast<double>(space.available)),
                    " are free; TMPDIR=DIR names another folder");
  tell(say, room + " while it is read; TMPDIR=DIR names another folder");
}

/// Samples in a file of their own, which has no name any more.
class DecodedSamples final : public StoredSamples {
 public:
  explicit DecodedSamples(std::shared_ptr<const Samples> samples)
      : samples_(std::move(samples)) {}
  std::shared_ptr<const Samples> open() const override { return samples_; }

 private:
  std::shared_ptr<const Samples> samples_;
};

/// A sound file that is decoded when it is opened.
class LaterSamples final : public StoredSamples {
 public:
  explicit LaterSamples(fs::path path) : path_(std::move(path)) {}
  std::shared_ptr<const Samples> open() const override {
    return read_sound(path_, {}).sound.stored->open();
  }

 private:
  fs::path path_;
};

}  // namespace

SoundFile read_sound(const fs::path& path, const Say& say) {
  const ScratchFolder scratch(temporary_folder());
  check_room(path, scratch.path(), say);
  SoundFile file;
  const fs::path samples = scratch.path() / kSamples;
  file.notes = run_sound(path, {}, samples, scratch.path() / "log");
  file.sound.rate = kSpeechRate;
  file.sound.stored =
      std::make_shared<const DecodedSamples>(std::make_shared<const FileSamples>(samples));
  // What is open can be read without its name: whatever ends the program, nothing stays.
  return file;
}

Sound sound_in(const fs::path& path) {
  return {kSpeechRate, {}, std::make_shared<const LaterSamples>(path)};
}

}  // namespace attn::tasks
