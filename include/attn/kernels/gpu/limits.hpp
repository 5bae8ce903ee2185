/// What the GPU's kernels take, in numbers: known without CUDA, so that every build can tell
/// which of them a call runs on.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>

#include "attn/core/view.hpp"

namespace attn::gpu {

/// The most channels of a key or value of the fused kernels.
inline constexpr int kMaxChannels = 256;
/// The larger of key and value channels runs padded to the next of these.
inline constexpr int kHeadSizes[] = {32, 64, 96, 128, 192, 256};

/// The most queries of a sequence for decode(), and the most channels of a key or value.
inline constexpr int kMaxDecodeQueries = 16;
inline constexpr int kMaxDecodeChannels = 256;

/// The most channels of q and k, and of v, of additive attention, and the most batch x heads.
inline constexpr int kMaxAdditiveChannels = 1024;
inline constexpr int kMaxAdditiveHeads = 65535;

/// Whether the recipes of their own kernels are built for a type of `bytes` and a head size:
/// 16-bit types and the head sizes of most models.
constexpr bool has_common_recipes(std::size_t bytes, int head_size) {
  return bytes == 2 && (head_size == 64 || head_size == 128);
}

/// What is in use on Hopper beyond bf16 at 128 channels; false sends it to the portable
/// kernels. f16 and backward at 64 channels compile, but have not run.
inline constexpr bool kHopperForwardAt64 = true;
inline constexpr bool kHopperBackwardAt64 = false;
inline constexpr bool kHopperFloat16 = false;

/// Bytes of shared memory that the backward of additive attention takes for tiles of
/// `side` x `side` scores; channels lie in steps of four for each of 256 / side lanes, and rows
/// as the matrix units like them.
constexpr std::size_t additive_backward_shared(int side, int channels, int values) {
  constexpr int kPad = 8;
  const int step = 4 * (256 / side);
  const int keys = (channels + step - 1) / step * step + kPad;
  const int pooled = (values + step - 1) / step * step + kPad;
  const int rows = 3 * keys + 3 * pooled + 2 * (side + kPad) + 2;
  return sizeof(float) * static_cast<std::size_t>(side * rows + keys);
}
/// Bytes that these kernels take besides what they ask for.
inline constexpr std::size_t kStaticShared = 64;

/// Whether the TMA can read [batch, head, position, channel]: channels side by side, all else
/// in steps of 16 bytes that go forward.
template <class T>
bool can_map(const View<const T, 4>& view) {
  constexpr std::int64_t kPiece = 16 / static_cast<std::int64_t>(sizeof(T));
  bool can = view.strides[3] == 1 && reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0;
  for (std::size_t axis = 0; axis < 4; ++axis) can = can && view.shape[axis] > 0;
  for (std::size_t axis = 0; axis < 3; ++axis)
    can = can && (view.shape[axis] == 1 ||
                  (view.strides[axis] > 0 && view.strides[axis] % kPiece == 0 &&
                   view.strides[axis] < (std::int64_t{1} << 38)));
  return can;
}

}  // namespace attn::gpu
