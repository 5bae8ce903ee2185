#include "tasks/compose/synthesiser.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/compose/music.hpp"

namespace attn::tasks::compose {
namespace {

constexpr int kHarmonics = 8;
constexpr double kSwell = 0.012;    ///< seconds until a note is at its loudest
constexpr double kFade = 0.08;      ///< seconds behind its end until it is gone
constexpr double kDecay = 1.1;      ///< of the lowest harmonic, a second
constexpr double kLoudest = 0.9;    ///< of all samples
constexpr double kConcert = 440.0;  ///< hertz of pitch 69

/// Rises and falls without a corner: 0 to 1.
double smooth(double x) {
  const double inside = std::clamp(x, 0.0, 1.0);
  return 0.5 - 0.5 * std::cos(std::numbers::pi * inside);
}

void add_note(std::vector<float>& samples, const Note& note, double seconds_a_tick,
              double rate) {
  const double begin = static_cast<double>(note.begin) * seconds_a_tick;
  const double length = static_cast<double>(note.length) * seconds_a_tick;
  const double hertz = kConcert * std::pow(2.0, (note.pitch - 69) / 12.0);
  const auto first = static_cast<std::size_t>(std::llround(begin * rate));
  const auto count = static_cast<std::size_t>(std::llround((length + kFade) * rate));
  for (int harmonic = 1; harmonic <= kHarmonics; ++harmonic) {
    const double tone = hertz * harmonic;
    if (tone > 0.45 * rate) break;  // what the rate cannot hold would sound as something else
    const double loud = 1.0 / (harmonic * std::sqrt(static_cast<double>(harmonic)));
    const double turn = 2.0 * std::numbers::pi * tone / rate;
    const double fall = kDecay * (1.0 + 0.35 * (harmonic - 1)) / rate;
    for (std::size_t i = 0; i < count && first + i < samples.size(); ++i) {
      const auto at = static_cast<double>(i);
      const double swell = smooth(at / (kSwell * rate));
      const double fade = smooth((static_cast<double>(count) - at) / (kFade * rate));
      samples[first + i] +=
          static_cast<float>(loud * swell * fade * std::exp(-fall * at) * std::sin(turn * at));
    }
  }
}

void put(std::vector<std::uint8_t>& out, std::uint32_t value, int width) {
  for (int i = 0; i < width; ++i)
    out.push_back(static_cast<std::uint8_t>(value >> (8U * static_cast<unsigned>(i))));
}

void put(std::vector<std::uint8_t>& out, std::string_view text) {
  for (const char c : text) out.push_back(static_cast<std::uint8_t>(c));
}

}  // namespace

Sound play(const Music& music, std::int64_t rate) {
  const double seconds_a_tick = 60.0 / (music.tempo * static_cast<double>(kQuarter));
  const double seconds = static_cast<double>(music.end()) * seconds_a_tick + 2.0 * kFade;
  if (!(seconds <= kMostSeconds))
    fail("the music takes ", seconds, " s; at most ", kMostSeconds, " s are played");
  Sound sound{rate, {}};
  sound.samples.assign(static_cast<std::size_t>(std::ceil(seconds * static_cast<double>(rate))),
                       0.0f);
  for (const Note& note : music.notes)
    add_note(sound.samples, note, seconds_a_tick, static_cast<double>(rate));
  float loudest = 0.0f;
  for (const float one : sound.samples) loudest = std::max(loudest, std::abs(one));
  if (loudest > 0.0f)
    for (float& one : sound.samples) one *= static_cast<float>(kLoudest) / loudest;
  return sound;
}

std::vector<std::uint8_t> write_wav(const Sound& sound) {
  const auto bytes = static_cast<std::uint32_t>(sound.samples.size() * 2);
  const auto rate = static_cast<std::uint32_t>(sound.rate);
  std::vector<std::uint8_t> out;
  out.reserve(bytes + 44);
  put(out, "RIFF");
  put(out, 36 + bytes, 4);
  put(out, "WAVEfmt ");
  put(out, 16, 4);
  put(out, 1, 2);  // whole numbers
  put(out, 1, 2);  // one channel
  put(out, rate, 4);
  put(out, 2 * rate, 4);
  put(out, 2, 2);
  put(out, 16, 2);
  put(out, "data");
  put(out, bytes, 4);
  for (const float one : sound.samples)
    put(out,
        static_cast<std::uint16_t>(
            static_cast<std::int16_t>(std::lround(std::clamp(one, -1.0f, 1.0f) * 32767.0f))),
        2);
  return out;
}

}  // namespace attn::tasks::compose
