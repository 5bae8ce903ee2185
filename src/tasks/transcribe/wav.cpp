// WAV files in memory, as a page sends what a microphone heard. Whatever else is a sound goes
// through attn-sound.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/tasks/value.hpp"

namespace attn::tasks {
namespace {

constexpr std::size_t kHead = 12;      // "RIFF", a size, "WAVE"
constexpr std::size_t kChunkHead = 8;  // a name and a size
constexpr std::size_t kFormat = 16;    // bytes of "fmt " that every file has
constexpr std::uint64_t kPlain = 1;    // samples as they are

using Bytes = std::span<const std::uint8_t>;

std::uint64_t number(Bytes bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value |= std::uint64_t{bytes[at + i]} << (8 * i);
  return value;
}

bool says(Bytes bytes, std::size_t at, std::string_view word) {
  return bytes.size() >= at + word.size() &&
         std::equal(word.begin(), word.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

/// The contents of the first chunk of that name, as far as they are there; empty without one.
Bytes chunk(Bytes file, std::string_view name) {
  for (std::size_t at = kHead; at + kChunkHead <= file.size();) {
    const std::uint64_t size = number(file, at + 4, 4);
    const Bytes rest = file.subspan(at + kChunkHead);
    if (says(file, at, name))
      return rest.first(static_cast<std::size_t>(std::min<std::uint64_t>(size, rest.size())));
    if (size >= rest.size()) break;
    at +=
        kChunkHead + static_cast<std::size_t>(size + size % 2);  // chunks begin at even places
  }
  return {};
}

}  // namespace

Sound read_wav(std::span<const std::uint8_t> file, const std::string& where) {
  if (file.size() < kHead || !says(file, 0, "RIFF") || !says(file, 8, "WAVE"))
    fail<FileError>(where, " is no WAV file");
  const Bytes format = chunk(file, "fmt ");
  if (format.size() < kFormat) fail<FileError>(where, " is a WAV file without a format");
  const std::uint64_t kind = number(format, 0, 2);
  const std::uint64_t channels = number(format, 2, 2);
  const std::uint64_t rate = number(format, 4, 4);
  const std::uint64_t bits = number(format, 14, 2);
  if (kind != kPlain || channels != 1 || bits != 16 ||
      rate != static_cast<std::uint64_t>(kSpeechRate))
    fail<FileError>(where, " is a WAV file of kind ", kind, ", ", channels, " channels, ", bits,
                    " bits and ", rate, " samples a second; kind 1 (PCM), 1 channel, 16 bits ",
                    "and ", kSpeechRate, " samples a second are accepted");
  const Bytes data = chunk(file, "data");
  Sound sound{kSpeechRate, std::vector<float>(data.size() / 2)};
  for (std::size_t i = 0; i < sound.samples.size(); ++i)
    sound.samples[i] =
        static_cast<float>(static_cast<std::int16_t>(number(data, 2 * i, 2))) / 32768.0f;
  return sound;
}

}  // namespace attn::tasks
