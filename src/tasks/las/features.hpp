/// What the listener reads of a sound: the loudness of 26 bands of mel a hundred times a
/// second, a byte each.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::tasks::las {

inline constexpr std::int64_t kBands = 26;
/// Samples a second, from one frame to the next, and in one.
inline constexpr std::int64_t kRate = 16000;
inline constexpr std::int64_t kHop = 160;
inline constexpr std::int64_t kWindow = 400;

struct LogMel {
  std::int64_t frames = 0;
  std::vector<std::uint8_t> values;  ///< [frames, kBands], the lowest band first

  bool operator==(const LogMel&) const = default;
};

/// Of samples at kRate in [-1, 1): x[n] - 0.97 x[n-1], frames of 400 samples every 160, window
/// 0.5 - 0.5 cos(2 pi k / 400), power spectrum of 512 points, 26 triangles with peaks at 1
/// whose corners are equally spaced in mel = 1127 ln(1 + f / 700) from 60 to 7600 Hz, and
/// round(5 (ln(E + 1e-9) + 18)) held in 0..255. Fewer than 400 samples have no frame.
LogMel log_mel(std::span<const float> samples);

/// Hertz of the corners of the triangles, kBands + 2 of them.
const std::vector<double>& band_corners();

}  // namespace attn::tasks::las
