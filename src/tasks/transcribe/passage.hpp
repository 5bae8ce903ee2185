/// Passage: a window of a sound and what was heard in it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/models/speech_model.hpp"
#include "attn/tasks/transcribe/transcript.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/transcribe/moonshine.hpp"

namespace attn::tasks {

/// What a model needs to write down what it hears.
struct Listener {
  models::SpeechModel model;
  SpeechPieces pieces;
};

/// Tokens of a word: first, ..., end - 1. Token i was written behind input token i - 1.
struct WordSpan {
  std::size_t first;
  std::size_t end;
};

struct Passage {
  SpokenSegment segment;
  Certainty certainty{};
  std::vector<WordSpan> spans{};  ///< one a word
  std::vector<Tensor> layers{};   ///< where times were wanted, of each [heads, tokens, frames]
  maps::Matrix weights{};         ///< and of the heads that tell the times [words, frames]
};

/// The tokens of a window, the likeliest each time, the first and the last mark included.
struct WrittenTokens {
  std::vector<std::int64_t> tokens;
  double log_probability = 0.0;  ///< of all but the first mark
};
WrittenTokens write_tokens(const models::SpeechModel& model, std::span<const float> window);

/// A window that begins at `begin` seconds of its sound. A silent one has no words.
Passage hear_window(const Listener& listener, std::span<const float> window, double begin,
                    bool times);

/// The sum of the rows of a word over their number: its part of what tokens looked at.
maps::Matrix of_words(const maps::Matrix& tokens, std::span<const WordSpan> spans);

}  // namespace attn::tasks
