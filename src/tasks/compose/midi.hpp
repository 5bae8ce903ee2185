/// Standard MIDI files: read with every size checked, and written.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tasks/compose/music.hpp"

namespace attn::tasks::compose {

inline constexpr std::uint64_t kMostMidiBytes = std::uint64_t{4} << 20;

/// Notes of all tracks and channels but that of drums, formats 0 and 1; the first tempo is that
/// of the piece. FileError, which begins with `where`, for anything else than such a file.
Music read_midi(std::span<const std::byte> bytes, const std::string& where);

/// Format 0, one track.
std::vector<std::uint8_t> write_midi(const Music& music);

}  // namespace attn::tasks::compose
