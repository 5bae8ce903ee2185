// SPDX-License-Identifier: Apache-2.0

#include "tasks/las/spoken.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/value.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/las/features.hpp"
#include "tasks/las/listener.hpp"

namespace attn::tasks::las {
namespace {

/// The weights of each token of an answer, and the frame with most of them.
class Looks {
 public:
  explicit Looks(const Answer& answer)
      : answer_(answer), frames_(answer.weights.size() / (answer.target.size() + 1)) {}

  std::span<const float> of(std::size_t token) const {
    return std::span(answer_.weights).subspan(token * frames_, frames_);
  }
  std::int64_t most(std::size_t token) const {
    const auto weights = of(token);
    return std::max_element(weights.begin(), weights.end()) - weights.begin();
  }
  double mean(std::size_t token) const {
    double sum = 0.0;
    double mass = 0.0;
    for (std::size_t frame = 0; frame < frames_; ++frame) {
      const auto weight = static_cast<double>(of(token)[frame]);
      sum += weight * static_cast<double>(frame);
      mass += weight;
    }
    return mass > 0.0 ? sum / mass : 0.0;
  }
  std::int64_t frames() const { return static_cast<std::int64_t>(frames_); }

 private:
  const Answer& answer_;
  std::size_t frames_;
};

/// Two digits behind the point.
double rounded(double seconds) {
  return std::round(100.0 * seconds) / 100.0;
}

double seconds_at(std::int64_t frame) {
  return kFrameSeconds * static_cast<double>(frame);
}

/// The highest band first, the loudest 1.
maps::Matrix spectrogram_of(const LogMel& sound) {
  maps::Matrix matrix{
      static_cast<std::size_t>(kBands), static_cast<std::size_t>(sound.frames), {}};
  const auto [low, high] = std::minmax_element(sound.values.begin(), sound.values.end());
  const double span = std::max(1.0, static_cast<double>(*high) - static_cast<double>(*low));
  for (std::int64_t band = kBands; band-- > 0;)
    for (std::int64_t frame = 0; frame < sound.frames; ++frame) {
      const auto value =
          static_cast<double>(sound.values[static_cast<std::size_t>(frame * kBands + band)]);
      matrix.values.push_back(static_cast<float>((value - static_cast<double>(*low)) / span));
    }
  return matrix;
}

}  // namespace

Table times_of(const Answer& answer, const text::Tokeniser& vocabulary) {
  const bool spells = vocabulary.units() == text::Units::characters;
  const Looks looks(answer);
  Table table{{spells ? "word" : "phone", "begin", "end"}, {}};
  std::string word;
  std::int64_t first = looks.frames();
  std::int64_t last = 0;
  const auto end_word = [&] {
    if (!word.empty())
      table.rows.push_back(
          {std::exchange(word, ""), rounded(seconds_at(first)), rounded(seconds_at(last + 1))});
    first = looks.frames();
    last = 0;
  };
  for (std::size_t row = 0; row < answer.target.size(); ++row) {
    const std::string text = vocabulary.decode(std::span(answer.target).subspan(row, 1));
    if (text == " ") {
      end_word();
      continue;
    }
    word += text;
    first = std::min(first, looks.most(row));
    last = std::max(last, looks.most(row));
    if (!spells) end_word();
  }
  end_word();
  return table;
}

void tell_frames(Answer& answer, const text::Tokeniser& vocabulary) {
  const Looks looks(answer);
  std::vector<float> most;
  std::vector<float> mean;
  for (std::size_t row = 0; row < answer.target.size(); ++row) {
    if (vocabulary.decode(std::span(answer.target).subspan(row, 1)) == " ") continue;
    most.push_back(static_cast<float>(looks.most(row)));
    mean.push_back(static_cast<float>(looks.mean(row)));
  }
  answer.numbers[kFramesLooked] = std::move(most);
  answer.numbers[kMeanFrames] = std::move(mean);
}

maps::Speech speech_of(const LogMel& sound, const Answer& answer,
                       const text::Tokeniser& vocabulary) {
  const Looks looks(answer);
  maps::Speech picture;
  picture.title = answer.text;
  picture.caption =
      "Above, how loud each band of mel is; below, for each token that was "
      "written, the weights of the frames it looked at";
  picture.seconds = static_cast<double>(sound.frames * kHop) / static_cast<double>(kRate);
  picture.hertz = band_corners().back();
  picture.spectrogram = spectrogram_of(sound);
  picture.weights.rows = answer.target.size();
  picture.weights.columns = static_cast<std::size_t>(sound.frames);
  for (std::size_t row = 0; row < answer.target.size(); ++row) {
    const auto weights = looks.of(row);
    picture.words.push_back(vocabulary.label(answer.target[row]));
    picture.begins.push_back(seconds_at(looks.most(row)));
    picture.ends.push_back(std::min(picture.seconds, seconds_at(looks.most(row) + 1)));
    // A frame of the listener is four of the sound; an odd rest was not heard.
    for (std::int64_t frame = 0; frame < sound.frames; ++frame) {
      const auto at = static_cast<std::size_t>(frame / kReduction);
      picture.weights.values.push_back(at < weights.size() ? std::clamp(weights[at], 0.0F, 1.0F)
                                                           : 0.0F);
    }
  }
  return picture;
}

}  // namespace attn::tasks::las
