// SPDX-License-Identifier: Apache-2.0

#include "attn/tasks/transcribe/transcriber.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
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
#include "attn/tensor/tensor.hpp"
#include "tasks/transcribe/doubt.hpp"
#include "tasks/transcribe/merge.hpp"
#include "tasks/transcribe/moonshine.hpp"
#include "tasks/transcribe/passage.hpp"
#include "tasks/transcribe/spectrogram.hpp"
#include "tasks/transcribe/windows.hpp"

namespace attn::tasks {
namespace {

constexpr std::uint64_t kLargestGraph = std::uint64_t{1} << 30;
/// Nobody says a word in less.
constexpr double kShortest = 0.1;  // seconds
/// Columns of the maps of heads; there are dozens of them.
constexpr std::size_t kParts = 100;

std::string text_of(const std::vector<SpokenWord>& words) {
  std::string text;
  for (const SpokenWord& word : words) text += (text.empty() ? "" : " ") + word.text;
  return text;
}

/// A sound, window by window.
class Windows {
 public:
  explicit Windows(const Samples& samples) : samples_(samples) {}

  /// Whether there is another one; it is then the current one.
  bool next() {
    at_ += window_.next;
    if (at_ >= samples_.size()) return false;
    const std::int64_t longest = cuts_.samples(cuts_.longest);
    // One more than a window: then it is not the last.
    ahead_.resize(static_cast<std::size_t>(std::min(longest + 1, samples_.size() - at_)));
    samples_.read(at_, ahead_);
    window_ = first_window(ahead_, cuts_);
    return true;
  }

  std::span<const float> samples() const {
    return std::span(ahead_).first(static_cast<std::size_t>(window_.length));
  }
  double begin() const { return static_cast<double>(at_) / static_cast<double>(kSpeechRate); }
  bool overlaps() const { return window_.next < window_.length; }
  double share() const {
    return static_cast<double>(at_ + window_.next) / static_cast<double>(samples_.size());
  }

 private:
  const Samples& samples_;
  WindowOptions cuts_;
  std::vector<float> ahead_;
  Window window_;
  std::int64_t at_ = 0;
};

void add(Certainty& all, const Certainty& one) {
  all.words += one.words;
  all.tokens += one.tokens;
  all.log_probability += one.log_probability;
  all.repeated = std::max(all.repeated, one.repeated);
}

maps::Speech speech_map(const Passage& passage, std::span<const float> window,
                        double sound_seconds) {
  maps::Speech map;
  map.title = passage.segment.text;
  map.hertz = static_cast<double>(kSpeechRate) / 2.0;
  for (const SpokenWord& word : passage.segment.words) {
    map.words.push_back(word.text);
    map.begins.push_back(word.begin);
    map.ends.push_back(word.end);
  }
  map.begin = passage.segment.begin;
  map.seconds = passage.segment.end - passage.segment.begin;
  map.weights = passage.weights;
  map.spectrogram = spectrogram(window, map.weights.columns);
  map.caption =
      "Above, how loud each frequency is. Below, each row is a word, and shows which part of "
      "the sound the model looked at while it wrote the word; the frame around it is the time "
      "that follows from it.";
  if (sound_seconds > map.begin + map.seconds)
    map.caption += " The sound goes on; its first part with words is shown.";
  return map;
}

/// Columns of frames become fewer ones, each the sum of its part.
maps::Matrix in_parts(const maps::Matrix& frames, std::size_t parts) {
  maps::Matrix sums{frames.rows, parts, {}};
  sums.values.resize(frames.rows * parts);
  for (std::size_t row = 0; row < frames.rows; ++row)
    for (std::size_t column = 0; column < frames.columns; ++column) {
      float& sum = sums.values[row * parts + column * parts / frames.columns];
      sum = std::min(sum + frames.at(row, column), 1.0f);
    }
  return sums;
}

maps::Heads heads_map(const Passage& passage) {
  maps::Heads map;
  map.title = passage.segment.text;
  map.caption =
      "What each head of the decoder looked at while it wrote a word (a row): the shares of "
      "its weight on parts of the sound, named by the second that they begin at.";
  for (const SpokenWord& word : passage.segment.words) map.rows.push_back(word.text);
  const auto frames = static_cast<std::size_t>(passage.layers.front().size(2));
  const std::size_t parts = std::min(frames, kParts);
  const double seconds = passage.segment.end - passage.segment.begin;
  for (std::size_t part = 0; part < parts; ++part) {
    char begin[32];
    std::snprintf(begin, sizeof begin, "%.2f",
                  passage.segment.begin +
                      seconds * static_cast<double>(part) / static_cast<double>(parts));
    map.columns.emplace_back(begin);
  }
  for (std::size_t layer = 0; layer < passage.layers.size(); ++layer) {
    const Tensor& weights = passage.layers[layer];
    for (std::int64_t head = 0; head < weights.size(0); ++head) {
      const Tensor one = weights.select(0, head).contiguous();
      const auto rows = static_cast<std::size_t>(one.size(0));
      const float* first = one.data<float>();
      const maps::Matrix tokens{rows, frames, {first, first + rows * frames}};
      map.maps.push_back({"cross",
                          static_cast<std::int64_t>(layer) + 1,
                          head + 1,
                          in_parts(of_words(tokens, passage.spans), parts),
                          {},
                          {}});
    }
  }
  return map;
}

}  // namespace

struct Transcriber::State {
  mutable Listener listener;
};

Transcriber Transcriber::load(const std::filesystem::path& folder, const std::string& model) {
  const SpeechFiles files(model);
  const auto encoder = files::OnnxGraph::read(folder / files.encoder, kLargestGraph);
  const auto decoder = files::OnnxGraph::read(folder / files.decoder, kLargestGraph);
  return Transcriber(std::make_shared<const State>(
      State{{speech_model(encoder, decoder), SpeechPieces::read(folder / files.pieces)}}));
}

models::SpeechModel& Transcriber::model() const {
  return state_->listener.model;
}

std::vector<std::int64_t> Transcriber::tokens(std::span<const float> window) const {
  return write_tokens(state_->listener.model, window).tokens;
}

Transcript Transcriber::operator()(const Samples& samples, const Options& options) const {
  Transcript transcript;
  transcript.seconds = samples.seconds();
  if (transcript.seconds < kShortest) {
    transcript.notes.emplace_back(
        "the sound is shorter than a tenth of a second; nothing is "
        "said in it");
    return transcript;
  }
  std::optional<SpokenSegment> open;  // its end is heard again by the next window
  bool goes_on = true;
  bool silent = true;
  const auto finish = [&](SpokenSegment segment) {
    silent = silent && segment.text.empty();
    if (segment.text.empty()) return;
    if (options.told) goes_on = options.told(segment) && goes_on;
    transcript.segments.push_back(std::move(segment));
  };
  const bool times = options.times || options.map;
  for (Windows windows(samples); goes_on && windows.next();) {
    Passage passage = hear_window(state_->listener, windows.samples(), windows.begin(),
                                  times || windows.overlaps() || open.has_value());
    add(transcript.certainty, passage.certainty);
    if (options.map && transcript.map == nullptr && !passage.segment.words.empty())
      transcript.map = std::make_shared<const maps::Speech>(
          speech_map(passage, windows.samples(), transcript.seconds));
    if (open) {
      const Joint joint =
          joint_of(open->words, passage.segment.words, windows.begin(), open->end);
      open->words.resize(joint.before);
      passage.segment.words.erase(
          passage.segment.words.begin(),
          passage.segment.words.begin() + static_cast<std::ptrdiff_t>(joint.after));
      open->text = text_of(open->words);
      passage.segment.text = text_of(passage.segment.words);
      finish(std::move(*open));
      open.reset();
    }
    if (windows.overlaps()) {
      open = std::move(passage.segment);
    } else if (goes_on) {
      finish(std::move(passage.segment));
    }
    if (options.progress) options.progress(windows.share());
  }
  if (silent && goes_on) transcript.notes.emplace_back("no speech was heard in it");
  if (const std::string doubt = doubt_of(transcript.certainty); !doubt.empty()) {
    transcript.doubtful = true;
    transcript.notes.push_back(doubt);
  }
  return transcript;
}

maps::Heads Transcriber::heads(const Samples& samples) const {
  for (Windows windows(samples); windows.next();) {
    const Passage passage =
        hear_window(state_->listener, windows.samples(), windows.begin(), true);
    if (!passage.segment.words.empty()) return heads_map(passage);
  }
  return {};
}

}  // namespace attn::tasks
