// SPDX-License-Identifier: Apache-2.0

#include "attn/tasks/transcribe/transcriber.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/files/onnx.hpp"
#include "attn/maps/map.hpp"
#include "attn/models/speech_model.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/tasks/transcribe/transcript.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/transcribe/merge.hpp"
#include "tasks/transcribe/moonshine.hpp"
#include "tasks/transcribe/spectrogram.hpp"
#include "tasks/transcribe/windows.hpp"
#include "tasks/transcribe/word_times.hpp"

namespace attn::tasks {
namespace {

constexpr std::uint64_t kLargestGraph = std::uint64_t{1} << 30;
/// As the package limits itself; more is a model that repeats itself.
constexpr double kTokensASecond = 6.0;
/// Nobody says a word in less.
constexpr double kShortest = 0.1;  // seconds
/// The middle of what a frame reads lies a little behind its place.
constexpr double kFrameShift = 0.016;  // seconds

using Tokens = std::vector<std::int64_t>;

/// Tokens of a word: first, ..., end - 1.
struct WordSpan {
  std::size_t first;
  std::size_t end;
};

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

std::string text_of(const std::vector<SpokenWord>& words) {
  std::string text;
  for (const SpokenWord& word : words) text += (text.empty() ? "" : " ") + word.text;
  return text;
}

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

struct Transcriber::State {
  models::SpeechModel model;
  SpeechPieces pieces;
};

/// A window and what was heard in it.
struct Transcriber::Passage {
  SpokenSegment segment;
  maps::Matrix weights{};  ///< [words, frames], where times were wanted
};

Transcriber Transcriber::load(const std::filesystem::path& folder, const std::string& model) {
  const SpeechFiles files(model);
  const auto encoder = files::OnnxGraph::read(folder / files.encoder, kLargestGraph);
  const auto decoder = files::OnnxGraph::read(folder / files.decoder, kLargestGraph);
  return Transcriber(std::make_shared<const State>(
      State{speech_model(encoder, decoder), SpeechPieces::read(folder / files.pieces)}));
}

const models::SpeechModel& Transcriber::model() const {
  return state_->model;
}

namespace {

Tensor frames_of(const models::SpeechModel& model, std::span<const float> window) {
  std::vector<float> samples(window.begin(), window.end());
  samples.resize(std::max(samples.size(), static_cast<std::size_t>(model.least_samples())),
                 0.0f);
  return model.encode(Tensor::from(samples, {1, static_cast<std::int64_t>(samples.size())}));
}

/// The likeliest token, again and again.
Tokens greedy_tokens(const models::SpeechModel& model, const Tensor& frames,
                     std::size_t samples) {
  const auto most = static_cast<std::int64_t>(
      static_cast<double>(samples) / static_cast<double>(kSpeechRate) * kTokensASecond);
  models::SpeechModel::Decoding decoding(model, frames);
  Tokens tokens{SpeechPieces::kBegin};
  for (std::int64_t i = 0; i < most && tokens.back() != SpeechPieces::kEnd; ++i) {
    const Tensor logits = decoding.step(tokens.back());
    const float* first = logits.data<float>();
    tokens.push_back(std::max_element(first, first + logits.numel()) - first);
  }
  return tokens;
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

/// Gives the words their times, and gives what each looked at. Token i was written behind input
/// token i - 1, whose row it is.
maps::Matrix place(std::vector<SpokenWord>& words, const std::vector<WordSpan>& spans,
                   std::span<const Tensor> layers, std::span<const float> window, double begin,
                   double frame) {
  const double end =
      begin + static_cast<double>(window.size()) / static_cast<double>(kSpeechRate);
  const Quiet quiet(window, kSpeechRate);
  const maps::Matrix gains = alignment_gains(layers);
  const maps::Matrix weights = alignment_weights(layers);
  const std::vector<std::size_t> path = monotone_path(gains);
  const auto time_of = [&](std::size_t row) {
    const std::size_t column = row < path.size() ? path[row] : gains.columns;
    return std::min(begin + static_cast<double>(column) * frame + kFrameShift, end);
  };
  maps::Matrix of_words{spans.size(), weights.columns, {}};
  of_words.values.resize(spans.size() * weights.columns);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const double from = time_of(spans[i].first - 1);
    const SoundSpan said =
        quiet.without({from - begin, std::max(time_of(spans[i].end - 1), from) - begin});
    words[i].begin = begin + said.begin;
    words[i].end = begin + said.end;
    const auto count = static_cast<float>(spans[i].end - spans[i].first);
    for (std::size_t row = spans[i].first - 1; row < spans[i].end - 1; ++row)
      for (std::size_t column = 0; column < weights.columns; ++column)
        of_words.values[i * weights.columns + column] += weights.at(row, column) / count;
  }
  return of_words;
}

}  // namespace

std::vector<std::int64_t> Transcriber::tokens(std::span<const float> window) const {
  const NoGrad off_the_tape;
  return greedy_tokens(state_->model, frames_of(state_->model, window), window.size());
}

Transcriber::Passage Transcriber::hear(std::span<const float> window, double begin,
                                       bool times) const {
  const NoGrad off_the_tape;
  const double seconds = static_cast<double>(window.size()) / static_cast<double>(kSpeechRate);
  Passage passage{{begin, begin + seconds, "", {}}};
  if (is_silent(window)) return passage;
  const models::SpeechModel& model = state_->model;
  const SpeechPieces& pieces = state_->pieces;
  const Tensor frames = frames_of(model, window);
  const Tokens tokens = greedy_tokens(model, frames, window.size());
  passage.segment.text = trimmed(pieces.text(tokens));
  const std::vector<WordSpan> spans = words_of(tokens, pieces);
  for (const WordSpan& span : spans)
    passage.segment.words.push_back(
        {trimmed(pieces.text(std::span(tokens).subspan(span.first, span.end - span.first)))});
  if (!times || spans.empty()) return passage;
  const double frame =
      static_cast<double>(model.samples_a_frame()) / static_cast<double>(kSpeechRate);
  passage.weights = place(passage.segment.words, spans, token_weights(model, frames, tokens),
                          window, begin, frame);
  return passage;
}

Transcript Transcriber::operator()(const Samples& samples, const Options& options) const {
  const WindowOptions cuts;
  Transcript transcript;
  transcript.seconds = samples.seconds();
  if (transcript.seconds < kShortest) {
    transcript.notes.emplace_back(
        "the sound is shorter than a tenth of a second; nothing is "
        "said in it");
    return transcript;
  }
  const std::int64_t longest = cuts.samples(cuts.longest);
  std::vector<float> ahead;
  std::optional<SpokenSegment> open;  // its end is heard again by the next window
  bool goes_on = true;
  bool silent = true;
  const auto finish = [&](SpokenSegment segment) {
    silent = silent && segment.text.empty();
    if (segment.text.empty()) return;
    if (options.told) goes_on = options.told(segment) && goes_on;
    transcript.segments.push_back(std::move(segment));
  };
  for (std::int64_t at = 0; goes_on && at < samples.size();) {
    // One more than a window: then it is not the last.
    ahead.resize(static_cast<std::size_t>(std::min(longest + 1, samples.size() - at)));
    samples.read(at, ahead);
    const Window window = first_window(ahead, cuts);
    const bool overlaps = window.next < window.length;
    const double begin = static_cast<double>(at) / static_cast<double>(kSpeechRate);
    Passage passage = hear(std::span(ahead).first(static_cast<std::size_t>(window.length)),
                           begin, options.times || overlaps || open.has_value());
    if (open) {
      const Joint joint = joint_of(open->words, passage.segment.words, begin, open->end);
      open->words.resize(joint.before);
      passage.segment.words.erase(
          passage.segment.words.begin(),
          passage.segment.words.begin() + static_cast<std::ptrdiff_t>(joint.after));
      open->text = text_of(open->words);
      passage.segment.text = text_of(passage.segment.words);
      finish(std::move(*open));
      open.reset();
    }
    if (overlaps) {
      open = std::move(passage.segment);
    } else if (goes_on) {
      finish(std::move(passage.segment));
    }
    at += window.next;
    if (options.progress)
      options.progress(static_cast<double>(at) / static_cast<double>(samples.size()));
  }
  if (silent && goes_on) transcript.notes.emplace_back("no speech was heard in it");
  return transcript;
}

maps::Speech Transcriber::map(const Samples& samples, const std::string& title) const {
  const WindowOptions cuts;
  const std::int64_t longest = cuts.samples(cuts.longest);
  maps::Speech map;
  map.title = title;
  map.hertz = static_cast<double>(kSpeechRate) / 2.0;
  std::vector<float> ahead;
  for (std::int64_t at = 0; at < samples.size() && map.words.empty();) {
    ahead.resize(static_cast<std::size_t>(std::min(longest + 1, samples.size() - at)));
    samples.read(at, ahead);
    const Window window = first_window(ahead, cuts);
    const auto sound = std::span(ahead).first(static_cast<std::size_t>(window.length));
    Passage passage =
        hear(sound, static_cast<double>(at) / static_cast<double>(kSpeechRate), true);
    for (const SpokenWord& word : passage.segment.words) {
      map.words.push_back(word.text);
      map.begins.push_back(word.begin);
      map.ends.push_back(word.end);
    }
    map.begin = passage.segment.begin;
    map.seconds = passage.segment.end - passage.segment.begin;
    map.weights = std::move(passage.weights);
    map.spectrogram = spectrogram(sound, map.weights.columns);
    at += window.next;
  }
  map.caption =
      "Above, how loud each frequency is. Below, each row is a word, and shows which part of "
      "the sound the model looked at while it wrote the word; the frame around it is the time "
      "that follows from it.";
  if (samples.seconds() > map.begin + map.seconds)
    map.caption += " The sound goes on; its first part with words is shown.";
  return map;
}

}  // namespace attn::tasks
