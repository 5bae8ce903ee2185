/// Transcriber: English speech of any length becomes text, window by window, with the times of
/// its words where they are wanted.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/tasks/transcribe/transcript.hpp"

namespace attn::models {
class SpeechModel;
}

namespace attn::tasks {

/// Constant once made: any number of threads may ask it. Copies share the model.
class Transcriber {
 public:
  /// "tiny" or "base" out of the folder of the package (transcribe_folder).
  static Transcriber load(const std::filesystem::path& folder, const std::string& model);

  using Options = Hearing;
  /// Windows of up to 30 s, cut at pauses. A sound without speech has no segments, and a note.
  Transcript operator()(const Samples& samples, const Options& options) const;
  Transcript operator()(const Samples& samples) const { return (*this)(samples, Options{}); }

  /// What each head of the decoder looked at in the first window that has words: words over
  /// parts of the sound.
  maps::Heads heads(const Samples& samples) const;

  /// The tokens of one window, the first and the last mark included.
  std::vector<std::int64_t> tokens(std::span<const float> window) const;

  models::SpeechModel& model() const;

 private:
  struct State;

  explicit Transcriber(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

}  // namespace attn::tasks
