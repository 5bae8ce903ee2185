// SPDX-License-Identifier: Apache-2.0

#include "tasks/transcribe/passage.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/models/speech_model.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/tasks/transcribe/transcript.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/transcribe/doubt.hpp"
#include "tasks/transcribe/moonshine.hpp"
#include "tasks/transcribe/windows.hpp"
#include "tasks/transcribe/word_times.hpp"

namespace attn::tasks {
namespace {

/// As the package limits itself; more is a model that repeats itself.
constexpr double kTokensASecond = 6.0;
/// The middle of what a frame reads lies a little behind its place.
constexpr double kFrameShift = 0.016;  // seconds

using Tokens = std::vector<std::int64_t>;

double seconds_of(std::span<const float> window) {
  return static_cast<double>(window.size()) / static_cast<double>(kSpeechRate);
}

/// A piece that begins with a space begins a word; marks alone belong to the word before.
std::vector<WordSpan> words_of(const Tokens& tokens, const SpeechPieces& pieces) {
  std::vector<WordSpan> words;
  for (std::size_t i = 1; i < tokens.size() && tokens[i] != SpeechPieces::kEnd; ++i) {
    const std::string bytes = pieces.bytes(tokens[i]);
    if (words.empty() || bytes.starts_with(' '))
      words.push_back({i, i + 1});
    else
      words.back().end = i + 1;
  }
  return words;
}

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

Tensor frames_of(const models::SpeechModel& model, std::span<const float> window) {
  std::vector<float> samples(window.begin(), window.end());
  samples.resize(std::max(samples.size(), static_cast<std::size_t>(model.least_samples())),
                 0.0f);
  return model.encode(Tensor::from(samples, {1, static_cast<std::int64_t>(samples.size())}));
}

/// The likeliest token, again and again.
WrittenTokens greedy_tokens(const models::SpeechModel& model, const Tensor& frames,
                            std::span<const float> window) {
  const auto most = static_cast<std::int64_t>(seconds_of(window) * kTokensASecond);
  models::SpeechModel::Decoding decoding(model, frames);
  WrittenTokens written{{SpeechPieces::kBegin}};
  for (std::int64_t i = 0; i < most && written.tokens.back() != SpeechPieces::kEnd; ++i) {
    const Tensor chances = log_softmax(decoding.step(written.tokens.back()));
    const float* first = chances.data<float>();
    const float* best = std::max_element(first, first + chances.numel());
    written.tokens.push_back(best - first);
    written.log_probability += static_cast<double>(*best);
  }
  return written;
}

/// What each input token looked at, of each layer [heads, tokens, frames].
std::vector<Tensor> token_weights(const models::SpeechModel& model, const Tensor& frames,
                                  Tokens tokens) {
  if (tokens.back() == SpeechPieces::kEnd) tokens.pop_back();
  const auto count = static_cast<std::int64_t>(tokens.size());
  std::vector<Tensor> layers = model.weights(frames, Tensor::from(tokens, {1, count}));
  for (Tensor& layer : layers) layer = layer.select(0, 0);
  return layers;
}

/// Gives the words their times.
void place(std::vector<SpokenWord>& words, const Passage& passage,
           std::span<const float> window, double frame) {
  const double begin = passage.segment.begin;
  const Quiet quiet(window, kSpeechRate);
  const maps::Matrix gains = alignment_gains(passage.layers);
  const std::vector<std::size_t> path = monotone_path(gains);
  const auto time_of = [&](std::size_t row) {
    const std::size_t column = row < path.size() ? path[row] : gains.columns;
    return std::min(begin + static_cast<double>(column) * frame + kFrameShift,
                    passage.segment.end);
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const WordSpan& span = passage.spans[i];
    const double from = time_of(span.first - 1);
    const SoundSpan said =
        quiet.without({from - begin, std::max(time_of(span.end - 1), from) - begin});
    words[i].begin = begin + said.begin;
    words[i].end = begin + said.end;
  }
}

}  // namespace

WrittenTokens write_tokens(const models::SpeechModel& model, std::span<const float> window) {
  const NoGrad off_the_tape;
  return greedy_tokens(model, frames_of(model, window), window);
}

maps::Matrix of_words(const maps::Matrix& tokens, std::span<const WordSpan> spans) {
  maps::Matrix words{spans.size(), tokens.columns, {}};
  words.values.resize(words.rows * words.columns);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const auto count = static_cast<float>(spans[i].end - spans[i].first);
    for (std::size_t row = spans[i].first - 1; row < spans[i].end - 1; ++row)
      for (std::size_t column = 0; column < tokens.columns; ++column)
        words.values[i * words.columns + column] += tokens.at(row, column) / count;
  }
  return words;
}

Passage hear_window(const Listener& listener, std::span<const float> window, double begin,
                    bool times) {
  const NoGrad off_the_tape;
  Passage passage{{begin, begin + seconds_of(window), "", {}}};
  if (is_silent(window)) return passage;
  const models::SpeechModel& model = listener.model;
  const SpeechPieces& pieces = listener.pieces;
  const Tensor frames = frames_of(model, window);
  const WrittenTokens written = greedy_tokens(model, frames, window);
  const Tokens& tokens = written.tokens;
  passage.segment.text = trimmed(pieces.text(tokens));
  passage.spans = words_of(tokens, pieces);
  std::vector<SpokenWord>& words = passage.segment.words;
  for (const WordSpan& span : passage.spans)
    words.push_back(
        {trimmed(pieces.text(std::span(tokens).subspan(span.first, span.end - span.first)))});
  if (words.empty()) return passage;
  passage.certainty = {.words = static_cast<std::int64_t>(words.size()),
                       .tokens = static_cast<std::int64_t>(tokens.size()) - 1,
                       .log_probability = written.log_probability,
                       .repeated = repeated_share(words)};
  if (!times) return passage;
  passage.layers = token_weights(model, frames, tokens);
  passage.weights = of_words(alignment_weights(passage.layers), passage.spans);
  place(words, passage, window,
        static_cast<double>(model.samples_a_frame()) / static_cast<double>(kSpeechRate));
  return passage;
}

}  // namespace attn::tasks
