/// Samples: a sound of one channel at 16,000 samples a second, wherever it lies. Hours of it
/// need not be in memory.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <span>

#include "attn/files/read_file.hpp"
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

}  // namespace attn::tasks
