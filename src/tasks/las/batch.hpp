/// Sounds and their tokens side by side, as tensors.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <span>

#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/las/augment.hpp"
#include "tasks/las/search.hpp"

namespace attn::tasks::las {

/// What is learnt from in one row of a batch.
struct Heard {
  Recording recording;
  Tokens tokens;
};

/// The least frames of a sound with a frame of the listener to look at, and some around it.
inline constexpr std::int64_t kLeastFrames = 8;
/// The most that are read: half a minute.
inline constexpr std::int64_t kMostFrames = 3000;

/// Frames of a sound that alignments of these tokens need: a blank parts equal ones.
std::int64_t least_frames(const Tokens& tokens);

struct FrameBatch {
  Tensor frames;   ///< [batch, longest, kBands], on the device
  Tensor lengths;  ///< i64 [batch], on the CPU
};
FrameBatch padded(std::span<const Heard> batch, Device device);

/// Tokens behind `front`, before `back`, where they are there; `rest` fills the row. i64
/// [batch, longest or one more], on the CPU.
Tensor padded_tokens(std::span<const Heard> batch, std::optional<std::int64_t> front,
                     std::optional<std::int64_t> back, std::int64_t rest);

}  // namespace attn::tasks::las
