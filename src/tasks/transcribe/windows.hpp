/// Windows: where a long sound is cut, so that each part is short enough for the model and no
/// word is cut in two.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::tasks {

/// Of samples at 16,000 a second.
struct WindowOptions {
  std::int64_t rate = 16000;
  double longest = 30.0;   ///< seconds, as the models were trained
  double shortest = 12.0;  ///< a cut is looked for behind this; words before help the model
  double overlap = 4.0;    ///< what two windows share where there is no pause
  double pause = 0.2;      ///< quiet for so long is a pause

  std::int64_t samples(double seconds) const {
    return static_cast<std::int64_t>(seconds * static_cast<double>(rate));
  }
};

struct Window {
  std::int64_t length = 0;  ///< samples from the beginning of what lies ahead
  std::int64_t next = 0;    ///< where the next window begins; less than `length`: they overlap
};

/// The window at the beginning of what lies ahead, of which `options.longest` seconds are
/// enough. All of it where it is no longer; else to the middle of the longest pause behind
/// `shortest`, and of equals the last. Where there is none the window is full and the next one
/// overlaps it.
Window first_window(std::span<const float> ahead, const WindowOptions& options = {});

/// Seconds from the beginning of the samples.
struct SoundSpan {
  double begin;
  double end;
};

/// Which parts of a sound are quieter than speech, as pauses are.
class Quiet {
 public:
  explicit Quiet(std::span<const float> samples, std::int64_t rate = 16000);

  /// The part of a span that is left when what is quiet at its ends is taken off; all of it
  /// where nothing would be.
  SoundSpan without(const SoundSpan& span) const;

 private:
  std::vector<bool> frames_;
};

/// Whether there is nothing to be heard: no 20 ms are louder than -60 dB of full scale.
bool is_silent(std::span<const float> samples, std::int64_t rate = 16000);

}  // namespace attn::tasks
