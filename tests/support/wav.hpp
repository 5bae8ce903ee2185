/// Sound files for tests: WAV of 16 bits, and sounds to put into them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::test {

inline std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFFU);
  return text;
}

/// Samples of all channels, one frame behind the other, within -1..1. `said`: how many bytes of
/// samples the header tells of; negative: as many as there are.
inline std::string wav(const std::vector<float>& samples, int rate = 16000, int channels = 1,
                       std::int64_t said = -1) {
  const std::uint64_t bytes = said < 0 ? samples.size() * 2 : static_cast<std::uint64_t>(said);
  std::string data;
  for (const float x : samples) {
    const auto value = static_cast<std::int16_t>(std::lround(x * 32767.0f));
    data += little_endian(static_cast<std::uint16_t>(value), 2);
  }
  return "RIFF" + little_endian(36 + bytes, 4) + "WAVEfmt " + little_endian(16, 4) +
         little_endian(1, 2) + little_endian(static_cast<std::uint64_t>(channels), 2) +
         little_endian(static_cast<std::uint64_t>(rate), 4) +
         little_endian(static_cast<std::uint64_t>(rate * channels * 2), 4) +
         little_endian(static_cast<std::uint64_t>(channels * 2), 2) + little_endian(16, 2) +
         "data" + little_endian(bytes, 4) + data;
}

/// A tone that comes and goes.
inline std::vector<float> tone(double seconds, double hertz = 440.0, int rate = 16000,
                               float loud = 0.5f) {
  std::vector<float> samples(static_cast<std::size_t>(seconds * rate));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double time = static_cast<double>(i) / rate;
    samples[i] = loud * static_cast<float>(std::sin(6.283185307179586 * hertz * time) *
                                           std::sin(6.283185307179586 * 3.0 * time));
  }
  return samples;
}

}  // namespace attn::test
