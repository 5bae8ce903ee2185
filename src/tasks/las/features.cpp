// SPDX-License-Identifier: Apache-2.0

#include "tasks/las/features.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "tasks/transcribe/fourier.hpp"

namespace attn::tasks::las {
namespace {

constexpr std::size_t kPoints = 512;
constexpr std::size_t kBins = kPoints / 2 + 1;
constexpr double kLowest = 60.0;
constexpr double kHighest = 7600.0;
constexpr double kEmphasis = 0.97;

double mel_of(double hertz) {
  return 1127.0 * std::log(1.0 + hertz / 700.0);
}

double hertz_of(double mel) {
  return 700.0 * (std::exp(mel / 1127.0) - 1.0);
}

/// The share of a bin's power that a band takes.
struct Share {
  std::size_t bin;
  double factor;
};

std::vector<std::vector<Share>> make_bands() {
  const std::vector<double>& corners = band_corners();
  std::vector<std::vector<Share>> bands(kBands);
  for (std::size_t band = 0; band < bands.size(); ++band)
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      const double hertz = static_cast<double>(bin) * static_cast<double>(kRate) / kPoints;
      const double rise = (hertz - corners[band]) / (corners[band + 1] - corners[band]);
      const double fall = (corners[band + 2] - hertz) / (corners[band + 2] - corners[band + 1]);
      const double factor = std::min(rise, fall);
      if (factor > 0.0) bands[band].push_back({bin, factor});
    }
  return bands;
}

}  // namespace

const std::vector<double>& band_corners() {
  static const std::vector<double> kCorners = [] {
    std::vector<double> corners;
    corners.reserve(kBands + 2);
    for (std::int64_t i = 0; i < kBands + 2; ++i)
      corners.push_back(hertz_of(mel_of(kLowest) + (mel_of(kHighest) - mel_of(kLowest)) *
                                                       static_cast<double>(i) / (kBands + 1)));
    return corners;
  }();
  return kCorners;
}

LogMel log_mel(std::span<const float> samples) {
  static const std::vector<std::vector<Share>> kShares = make_bands();
  LogMel result;
  const auto count = static_cast<std::int64_t>(samples.size());
  if (count < kWindow) return result;
  result.frames = (count - kWindow) / kHop + 1;
  result.values.reserve(static_cast<std::size_t>(result.frames * kBands));
  std::vector<std::complex<double>> spectrum(kPoints);
  for (std::int64_t frame = 0; frame < result.frames; ++frame) {
    std::fill(spectrum.begin(), spectrum.end(), 0.0);
    for (std::int64_t k = 0; k < kWindow; ++k) {
      const auto at = static_cast<std::size_t>(frame * kHop + k);
      const double before = at == 0 ? 0.0 : static_cast<double>(samples[at - 1]);
      const double window =
          0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * static_cast<double>(k) / kWindow);
      spectrum[static_cast<std::size_t>(k)] =
          window * (static_cast<double>(samples[at]) - kEmphasis * before);
    }
    fourier_transform(spectrum);
    for (const std::vector<Share>& band : kShares) {
      double energy = 0.0;
      for (const Share& share : band) energy += share.factor * std::norm(spectrum[share.bin]);
      const double level = std::round(5.0 * (std::log(energy + 1e-9) + 18.0));
      result.values.push_back(static_cast<std::uint8_t>(std::clamp(level, 0.0, 255.0)));
    }
  }
  return result;
}

}  // namespace attn::tasks::las
