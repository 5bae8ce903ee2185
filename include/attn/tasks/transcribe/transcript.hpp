/// Transcript: what was heard, in segments of some seconds, with the words and their times.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::tasks {

/// A word with the marks behind it: "well,".
struct SpokenWord {
  std::string text;
  double begin = 0.0;  ///< seconds from the beginning of the sound
  double end = 0.0;

  bool operator==(const SpokenWord&) const = default;
};

/// What was heard in one go.
struct SpokenSegment {
  double begin = 0.0;  ///< seconds, of the sound that was read for it
  double end = 0.0;
  std::string text;
  std::vector<SpokenWord> words;  ///< without times where none were wanted
};

struct Transcript {
  double seconds = 0.0;  ///< of the whole sound
  std::vector<SpokenSegment> segments;
  std::vector<std::string> notes;  ///< what a person should know of it, a sentence each

  /// The segments, joined by spaces.
  std::string text() const;
  std::vector<SpokenWord> words() const;
};

/// SubRip and WebVTT: captions of at most two lines of 42 letters, cut behind sentences where
/// they can be, and at pauses.
std::string to_srt(const Transcript& transcript);
std::string to_vtt(const Transcript& transcript);

}  // namespace attn::tasks
