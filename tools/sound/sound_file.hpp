/// SoundFile: a sound file of others, read part by part as one channel at one rate.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace attn::sound {

/// What is read of a file before it is refused.
struct Limits {
  std::int64_t channels = 32;
  std::int64_t least_rate = 1000;
  std::int64_t most_rate = 768000;
  double seconds = 12.0 * 3600.0;
};

/// WAV, AIFF, AU, CAF, FLAC, Ogg and MP3 by what is in the file, whatever it is called. Errors
/// are FileErrors that name the file. What a header claims is compared with the limits before
/// anything is decoded, and no memory is taken for it.
class SoundFile {
 public:
  explicit SoundFile(const std::filesystem::path& path, const Limits& limits = {});
  ~SoundFile();
  SoundFile(const SoundFile&) = delete;
  SoundFile& operator=(const SoundFile&) = delete;

  /// As the header tells it; 0 where it does not.
  double seconds() const;

  /// The mean of the channels at `rate`, each sample within -1..1, in parts of some seconds;
  /// gives how many there were.
  std::int64_t read(std::int64_t rate, const std::function<void(std::span<const float>)>& part);

  /// What a person should know of the file, a sentence each; complete behind read().
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct State;

  std::string where_;
  Limits limits_;
  std::unique_ptr<State> state_;
  std::vector<std::string> notes_;
};

}  // namespace attn::sound
