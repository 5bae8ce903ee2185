/// A spectrogram for people to look at: how loud each band of frequencies is in each part of a
/// sound. The models read samples and need none.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <span>

#include "attn/maps/map.hpp"

namespace attn::tasks {

struct SpectrogramOptions {
  std::size_t bands = 64;     ///< of equal width, from 0 to half the rate
  std::size_t samples = 512;  ///< in a window, a power of 2
  double range = 60.0;        ///< dB below the loudest that are shown; what is quieter is 0
};

/// Column i is of the window around the middle of part i of `columns` equal parts; the highest
/// band is the first row. Hann's window, powers in dB, the loudest 1.
maps::Matrix spectrogram(std::span<const float> samples, std::size_t columns,
                         const SpectrogramOptions& options = {});

}  // namespace attn::tasks
