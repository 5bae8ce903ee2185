/// A small synthesiser: notes become sound, harmonics that decay, and sound becomes a WAV file.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "attn/tasks/value.hpp"
#include "tasks/compose/music.hpp"

namespace attn::tasks::compose {

/// Seconds that are played, at most.
inline constexpr double kMostSeconds = 1800.0;

/// Eight harmonics a note, the higher the softer and the sooner gone; each note swells and
/// fades out, so that nothing clicks. The loudest sample is 0.9; silence stays silence.
/// InvalidArgument for music that takes longer than kMostSeconds.
Sound play(const Music& music, std::int64_t rate = 22050);

/// 16 bits, one channel. A sample beyond -1 to 1 is held inside.
std::vector<std::uint8_t> write_wav(const Sound& sound);

}  // namespace attn::tasks::compose
