/// Sound files of users, read by the program attn-sound.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>
#include <vector>

#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/transcribe/samples.hpp"

namespace attn::tools {

/// A sound file as samples in a file of its own, which is gone with this.
class SoundInput {
 public:
  /// FileError, which names the file, for what is no sound; Unsupported where attn-sound was
  /// not built.
  explicit SoundInput(const std::filesystem::path& path);

  const tasks::Samples& samples() const { return samples_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  tasks::ScratchFolder scratch_;
  std::vector<std::string> notes_;
  tasks::FileSamples samples_;
};

}  // namespace attn::tools
