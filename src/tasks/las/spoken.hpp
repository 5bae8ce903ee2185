/// What the weights of an answer tell: when each word was said, and a picture of it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/value.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/las/features.hpp"

namespace attn::tasks::las {

/// Seconds of a frame that attention tells apart.
inline constexpr double kFrameSeconds = 0.04;

/// Words, or phones, with the seconds of the frames that their tokens looked at most: word,
/// begin, end. The answer has weights.
Table times_of(const Answer& answer, const text::Tokeniser& vocabulary);

/// Where each token but spaces looked, among Answer::numbers: the frame with most weight, and
/// the mean of the frames by their weights. A space is nothing that is said.
inline constexpr const char* kFramesLooked = "frames";
inline constexpr const char* kMeanFrames = "mean frames";
void tell_frames(Answer& answer, const text::Tokeniser& vocabulary);

/// The spectrogram, and below it what each token looked at. The answer has tokens and weights.
maps::Speech speech_of(const LogMel& sound, const Answer& answer,
                       const text::Tokeniser& vocabulary);

}  // namespace attn::tasks::las
