// SPDX-License-Identifier: Apache-2.0

#include "tasks/las/augment.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/tensor/random.hpp"
#include "tasks/las/features.hpp"

namespace attn::tasks::las {
namespace {

constexpr auto kWide = static_cast<std::size_t>(kBands);

/// Between 1 - share and 1 + share.
double factor_within(double share, Random& random) {
  return 1.0 + share * (2.0 * draw(random) - 1.0);
}

struct Span {
  std::int64_t begin;
  std::int64_t end;
};

/// Up to `share` of `extent` places, anywhere.
Span span_within(double share, std::int64_t extent, Random& random) {
  const auto most = static_cast<double>(extent) * share;
  const auto count = static_cast<std::int64_t>(draw(random) * (most + 1.0));
  const auto room = static_cast<double>(extent - count + 1);
  const auto begin = static_cast<std::int64_t>(draw(random) * room);
  return {begin, std::min(extent, begin + count)};
}

}  // namespace

double draw(Random& random) {
  return static_cast<double>(random.next() >> 11U) * 0x1p-53;
}

Recording recording_of(const LogMel& sound) {
  return {sound.frames, std::vector<float>(sound.values.begin(), sound.values.end())};
}

void normalise(Recording& recording) {
  if (recording.frames == 0) return;
  const auto count = static_cast<double>(recording.frames);
  double squares = 0.0;
  for (std::size_t band = 0; band < kWide; ++band) {
    double mean = 0.0;
    for (std::size_t at = band; at < recording.values.size(); at += kWide)
      mean += static_cast<double>(recording.values[at]);
    mean /= count;
    for (std::size_t at = band; at < recording.values.size(); at += kWide) {
      const double centred = static_cast<double>(recording.values[at]) - mean;
      recording.values[at] = static_cast<float>(centred);
      squares += centred * centred;
    }
  }
  // A step of the bytes; a sound without any change has no deviation.
  const double deviation = std::sqrt(squares / (count * static_cast<double>(kBands))) + 1.0;
  for (float& value : recording.values)
    value = static_cast<float>(static_cast<double>(value) / deviation);
}

Recording stretched(const Recording& recording, double factor) {
  const auto frames =
      std::max<std::int64_t>(1, std::llround(static_cast<double>(recording.frames) * factor));
  Recording result{frames, {}};
  result.values.reserve(static_cast<std::size_t>(frames) * kWide);
  for (std::int64_t frame = 0; frame < frames; ++frame) {
    const double place = std::min(static_cast<double>(frame) / factor,
                                  static_cast<double>(recording.frames - 1));
    const auto low = static_cast<std::int64_t>(place);
    const std::int64_t high = std::min(low + 1, recording.frames - 1);
    const auto share = static_cast<float>(place - static_cast<double>(low));
    const float* a = recording.values.data() + low * kBands;
    const float* b = recording.values.data() + high * kBands;
    for (std::int64_t band = 0; band < kBands; ++band)
      result.values.push_back(a[band] + share * (b[band] - a[band]));
  }
  return result;
}

Recording warped(const Recording& recording, double factor) {
  Recording result = recording;
  for (std::int64_t band = 0; band < kBands; ++band) {
    const double place =
        std::min(static_cast<double>(band) * factor, static_cast<double>(kBands - 1));
    const auto low = static_cast<std::int64_t>(place);
    const std::int64_t high = std::min(low + 1, kBands - 1);
    const auto share = static_cast<float>(place - static_cast<double>(low));
    for (std::int64_t frame = 0; frame < recording.frames; ++frame) {
      const float* from = recording.values.data() + frame * kBands;
      result.values[static_cast<std::size_t>(frame * kBands + band)] =
          from[low] + share * (from[high] - from[low]);
    }
  }
  return result;
}

Recording changed(const Recording& recording, const Changes& changes, std::int64_t least,
                  Random& random) {
  const double fit = static_cast<double>(least) / static_cast<double>(recording.frames);
  const double slow = std::max(factor_within(changes.speed, random), fit);
  return warped(stretched(recording, slow), factor_within(changes.warp, random));
}

void mask(Recording& recording, const Changes& changes, Random& random) {
  for (std::int64_t i = 0; i < changes.masks; ++i) {
    const Span bands = span_within(changes.band_mask, kBands, random);
    const Span frames = span_within(changes.frame_mask, recording.frames, random);
    for (std::int64_t frame = 0; frame < recording.frames; ++frame)
      std::fill(recording.values.begin() + frame * kBands + bands.begin,
                recording.values.begin() + frame * kBands + bands.end, 0.0F);
    std::fill(recording.values.begin() + frames.begin * kBands,
              recording.values.begin() + frames.end * kBands, 0.0F);
  }
}

Recording joined(const Recording& first, const Recording& second) {
  Recording result = first;
  result.frames += second.frames;
  result.values.insert(result.values.end(), second.values.begin(), second.values.end());
  return result;
}

}  // namespace attn::tasks::las
