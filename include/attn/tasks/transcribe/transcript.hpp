/// Transcript: what was heard, in segments of some seconds, with the words and their times.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep
#include "attn/maps/map.hpp"

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

/// What a person should know before they believe a transcript.
struct Certainty {
  std::int64_t words = 0;
  std::int64_t tokens = 0;       ///< written, ends included; of the windows that have words
  double log_probability = 0.0;  ///< of all of them
  double repeated = 0.0;  ///< the largest share of a window's words that repeat those before

  double a_token() const {
    return tokens == 0 ? 0.0 : log_probability / static_cast<double>(tokens);
  }
};

struct Transcript {
  double seconds = 0.0;  ///< of the whole sound
  std::vector<SpokenSegment> segments;
  std::vector<std::string> notes;  ///< what a person should know of it, a sentence each
  Certainty certainty = {};
  bool doubtful = false;  ///< the words may be made up; a note says why
  /// What the words of the first window that has words looked at, below its spectrogram; null
  /// where it was not wanted or there are no words.
  std::shared_ptr<const maps::Speech> map = {};

  /// The segments, joined by spaces.
  std::string text() const;
  std::vector<SpokenWord> words() const;
};

/// How a model hears.
struct Hearing {
  bool times = false;  ///< whether words are told with their times; it takes a little longer
  bool map = false;    ///< whether the transcript has its map; it takes the times, too
  /// Is told each segment once it is done; false: it ends there.
  std::function<bool(const SpokenSegment&)> told{};
  /// Is told of what share of the sound is read.
  std::function<void(double)> progress{};
};

/// SubRip and WebVTT: captions of at most two lines of 42 letters, cut behind sentences where
/// they can be, and at pauses.
std::string to_srt(const Transcript& transcript);
std::string to_vtt(const Transcript& transcript);

}  // namespace attn::tasks
