// SPDX-License-Identifier: Apache-2.0

#include "attn/tasks/transcribe/samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>

#include "attn/core/error.hpp"
#include "attn/tasks/value.hpp"

namespace attn::tasks {

SoundSamples::SoundSamples(const Sound& sound) : sound_(sound) {
  if (sound.rate != kSpeechRate)
    fail("attn::tasks::SoundSamples: ", sound.rate, " samples a second; ", kSpeechRate,
         " are accepted");
  if (!std::all_of(sound.samples.begin(), sound.samples.end(),
                   [](float x) { return std::isfinite(x); }))
    fail("attn::tasks::SoundSamples: samples that are no finite numbers");
}

std::int64_t SoundSamples::size() const {
  return static_cast<std::int64_t>(sound_.samples.size());
}

void SoundSamples::read(std::int64_t begin, std::span<float> out) const {
  std::copy_n(sound_.samples.begin() + begin, out.size(), out.begin());
}

std::int64_t FileSamples::size() const {
  return static_cast<std::int64_t>(file_.size() / sizeof(float));
}

void FileSamples::read(std::int64_t begin, std::span<float> out) const {
  file_.read_at(static_cast<std::uint64_t>(begin) * sizeof(float), std::as_writable_bytes(out));
}

std::shared_ptr<const Samples> samples_of(const Sound& sound) {
  if (sound.stored != nullptr) return sound.stored->open();
  return std::make_shared<const SoundSamples>(sound);
}

}  // namespace attn::tasks
