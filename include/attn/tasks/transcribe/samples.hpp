/// Samples: a sound of one channel at 16,000 samples a second, wherever it lies. Hours of it
/// need not be in memory.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attn/files/read_file.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/value.hpp"

namespace attn::tasks {

/// The rate of all that is transcribed.
inline constexpr std::int64_t kSpeechRate = 16000;

class Samples {
 public:
  virtual ~Samples() = default;
  virtual std::int64_t size() const = 0;
  /// Fills `out` from sample `begin` on; all of them are there.
  virtual void read(std::int64_t begin, std::span<float> out) const = 0;

  double seconds() const {
    return static_cast<double>(size()) / static_cast<double>(kSpeechRate);
  }
};

/// A Sound, which must stay. InvalidArgument unless its rate is kSpeechRate and its samples are
/// finite.
class SoundSamples : public Samples {
 public:
  explicit SoundSamples(const Sound& sound);

  std::int64_t size() const override;
  void read(std::int64_t begin, std::span<float> out) const override;

 private:
  const Sound& sound_;
};

/// A file of little-endian 32-bit real numbers, as the program attn-sound writes it.
class FileSamples : public Samples {
 public:
  explicit FileSamples(const std::filesystem::path& path) : file_(path) {}

  std::int64_t size() const override;
  void read(std::int64_t begin, std::span<float> out) const override;

 private:
  files::InputFile file_;
};

/// The samples of a sound, wherever they lie. The sound must stay.
std::shared_ptr<const Samples> samples_of(const Sound& sound);

/// A sound file of a user, and what they should know of it, a sentence each.
struct SoundFile {
  Sound sound;
  std::vector<std::string> notes;
};
/// Decoded by the program attn-sound, which lies beside the one that runs, into a file without
/// a name that is gone with the sound. Where that takes much room, it is told before.
/// FileError, which names the file, for what is no sound, and where there is no room for it;
/// Unsupported where attn-sound was not built.
SoundFile read_sound(const std::filesystem::path& path, const Say& say);
/// The same, decoded each time it is opened: of many, one at a time takes room.
Sound sound_in(const std::filesystem::path& path);

/// The sound that the bytes of a WAV file hold: one channel of 16-bit samples at kSpeechRate.
/// FileError, which begins with `where`, for all else; sizes are checked before they are used.
Sound read_wav(std::span<const std::uint8_t> file, const std::string& where);

}  // namespace attn::tasks
