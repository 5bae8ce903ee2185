// SPDX-License-Identifier: Apache-2.0

#include "tasks/transcribe/windows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attn::tasks {
namespace {

constexpr double kFrame = 0.02;  // seconds
/// Of full scale, whose power is 1: -60 dB.
constexpr double kSilence = 1e-6;
/// A pause is this much quieter than speech, whose power the loud tenth of the frames tells.
constexpr double kQuieter = 3e-3;  // -25 dB

/// The mean power of each frame; what does not fill one is left out, unless it is all there is.
std::vector<double> powers(std::span<const float> samples, std::int64_t rate) {
  const auto frame = static_cast<std::size_t>(
      std::max<std::int64_t>(1, static_cast<std::int64_t>(kFrame * static_cast<double>(rate))));
  std::vector<double> result;
  for (std::size_t begin = 0;
       begin + frame <= samples.size() || (begin == 0 && !samples.empty()); begin += frame) {
    const auto part = samples.subspan(begin, std::min(frame, samples.size() - begin));
    double sum = 0.0;
    for (const float x : part) sum += static_cast<double>(x) * static_cast<double>(x);
    result.push_back(sum / static_cast<double>(part.size()));
  }
  return result;
}

/// The power that a tenth of the frames exceeds.
double loud(std::vector<double> powers) {
  const auto at = powers.begin() + static_cast<std::ptrdiff_t>(powers.size() * 9 / 10);
  std::nth_element(powers.begin(), at, powers.end());
  return *at;
}

}  // namespace

Quiet::Quiet(std::span<const float> samples, std::int64_t rate) {
  if (samples.empty()) return;
  const std::vector<double> power = powers(samples, rate);
  const double limit = std::max(loud(power) * kQuieter, kSilence);
  for (const double each : power) frames_.push_back(each < limit);
}

SoundSpan Quiet::without(const SoundSpan& span) const {
  const auto frame_of = [this](double seconds) {
    return std::min(static_cast<std::size_t>(std::max(seconds, 0.0) / kFrame), frames_.size());
  };
  std::size_t first = frame_of(span.begin);
  std::size_t last = frame_of(span.end);
  while (first < last && frames_[first]) ++first;
  if (first == last) return span;
  while (last > first && frames_[last - 1]) --last;
  return {std::max(span.begin, static_cast<double>(first) * kFrame),
          last == frame_of(span.end) ? span.end : static_cast<double>(last) * kFrame};
}

bool is_silent(std::span<const float> samples, std::int64_t rate) {
  const std::vector<double> all = powers(samples, rate);
  return std::all_of(all.begin(), all.end(), [](double power) { return power < kSilence; });
}

Window first_window(std::span<const float> ahead, const WindowOptions& options) {
  const auto all = static_cast<std::int64_t>(ahead.size());
  const std::int64_t longest = options.samples(options.longest);
  if (all <= longest) return {all, all};
  const std::vector<double> power =
      powers(ahead.first(static_cast<std::size_t>(longest)), options.rate);
  const double limit = std::max(loud(power) * kQuieter, kSilence);
  const std::int64_t frame = longest / static_cast<std::int64_t>(power.size());
  const auto first = static_cast<std::size_t>(options.shortest / kFrame);
  const auto least = static_cast<std::size_t>(std::lround(options.pause / kFrame));
  std::size_t best = 0;  // frames
  std::size_t cut = 0;
  for (std::size_t i = first; i < power.size();) {
    std::size_t end = i;
    while (end < power.size() && power[end] < limit) ++end;
    if (end - i >= std::max(best, least) && end > i) {
      best = end - i;
      cut = i + (end - i) / 2;
    }
    i = std::max(end, i + 1);
  }
  if (best > 0) {
    const std::int64_t at = static_cast<std::int64_t>(cut) * frame;
    return {at, at};
  }
  return {longest, longest - options.samples(options.overlap)};
}

}  // namespace attn::tasks
