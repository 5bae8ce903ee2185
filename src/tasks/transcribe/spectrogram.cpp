// SPDX-License-Identifier: Apache-2.0

#include "tasks/transcribe/spectrogram.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "tasks/transcribe/fourier.hpp"

namespace attn::tasks {
namespace {

using Spectrum = std::vector<std::complex<double>>;

}  // namespace

maps::Matrix spectrogram(std::span<const float> samples, std::size_t columns,
                         const SpectrogramOptions& options) {
  const std::size_t width = options.samples;
  if (width < 2 || (width & (width - 1)) != 0 || options.bands < 1 || options.bands > width / 2)
    fail("attn::tasks::spectrogram: ", options.bands, " bands of ", width,
         " samples; a power of 2 is accepted, and up to half as many bands");
  maps::Matrix result{options.bands, columns, {}};
  result.values.resize(options.bands * columns, 0.0f);
  std::vector<double> powers(result.values.size(), 0.0);
  double loudest = 0.0;
  Spectrum window(width);
  for (std::size_t column = 0; column < columns; ++column) {
    const double middle = (static_cast<double>(column) + 0.5) *
                          static_cast<double>(samples.size()) / static_cast<double>(columns);
    const auto begin = static_cast<std::int64_t>(middle) - static_cast<std::int64_t>(width / 2);
    for (std::size_t i = 0; i < width; ++i) {
      const std::int64_t at = begin + static_cast<std::int64_t>(i);
      const bool inside = at >= 0 && at < static_cast<std::int64_t>(samples.size());
      const double hann = 0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * static_cast<double>(i) /
                                               static_cast<double>(width));
      window[i] =
          inside ? hann * static_cast<double>(samples[static_cast<std::size_t>(at)]) : 0.0;
    }
    fourier_transform(window);
    for (std::size_t bin = 0; bin < width / 2; ++bin) {
      const std::size_t band = bin * options.bands / (width / 2);
      double& power = powers[(options.bands - 1 - band) * columns + column];
      power = std::max(power, std::norm(window[bin]));
      loudest = std::max(loudest, power);
    }
  }
  if (loudest <= 0.0) return result;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    const double below =
        powers[i] > 0.0 ? 10.0 * std::log10(powers[i] / loudest) : -options.range;
    result.values[i] = static_cast<float>(std::clamp(1.0 + below / options.range, 0.0, 1.0));
  }
  return result;
}

}  // namespace attn::tasks
