/// Tiles from global to shared memory, in the background where the rows allow it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/view.hpp"
#include "attn/kernels/gpu/functor/mma.cuh"

namespace attn::gpu {

/// Rows of one sequence and head: row j, channel c is base[j * row + c * channel].
template <class T>
struct DeviceRows {
  T* base = nullptr;
  std::int64_t row = 0;
  std::int64_t channel = 1;
  int channels = 0;
  bool whole = false;  ///< rows are made of aligned 16-byte pieces

  __device__ __forceinline__ T* at(int j) const { return base + j * row; }
};

/// A tensor [batch, head, position, channel] as the kernels see it.
template <class T>
struct DeviceView {
  T* data = nullptr;
  std::int64_t strides[4] = {};
  int channels = 0;
  bool whole = false;

  DeviceView() = default;
  explicit DeviceView(const View<T, 4>& view)
      : data(view.data), channels(static_cast<int>(view.shape[3])) {
    constexpr std::int64_t kPiece = 16 / static_cast<std::int64_t>(sizeof(T));
    whole = view.strides[3] == 1 && channels % kPiece == 0 &&
            reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0;
    for (int axis = 0; axis < 4; ++axis) {
      strides[axis] = view.strides[static_cast<std::size_t>(axis)];
      if (axis < 3) whole = whole && strides[axis] % kPiece == 0;
    }
  }

  __device__ __forceinline__ DeviceRows<T> rows(int batch, int head) const {
    return {data + batch * strides[0] + head * strides[1], strides[2], strides[3], channels,
            whole};
  }
};

__device__ __forceinline__ void copy_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits until at most kPending of this thread's groups are under way.
template <int kPending>
__device__ __forceinline__ void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// 16 bytes, or zeros where `there` is false.
__device__ __forceinline__ void copy_piece(void* to, const void* from, bool there) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  const int bytes = there ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from),
               "r"(bytes)
               : "memory");
}

/// Rows first.. first + kRows of `from` into a tile of kChannels channels; rows from `end` on
/// and channels that do not exist become 0. All threads of the block take part.
template <int kRows, int kChannels, int kThreads, class T>
__device__ __forceinline__ void copy_tile(T* tile, const DeviceRows<const T>& from, int first,
                                          int end) {
  constexpr int kPiece = 16 / static_cast<int>(sizeof(T));
  constexpr int kPieces = kChannels / kPiece;
  constexpr int kStride = kChannels + Mma<T>::kPad;
  constexpr int kTotal = kRows * kPieces;
  const int thread = static_cast<int>(threadIdx.x);
  if (from.whole && kThreads % kPieces == 0 && kTotal % kThreads == 0 && first + kRows <= end &&
      from.channels == kChannels) {
    // A whole tile: every thread walks down its own column of pieces.
    constexpr int kRowStep = kThreads / kPieces;
    const int c = thread % kPieces * kPiece;
    const T* source = from.at(first + thread / kPieces) + c;
    T* target = tile + thread / kPieces * kStride + c;
#pragma unroll
    for (int step = 0; step < kTotal / kThreads; ++step) {
      copy_piece(target + step * kRowStep * kStride, source, true);
      source += kRowStep * from.row;
    }
  } else if (from.whole) {
#pragma unroll 1
    for (int i = thread; i < kTotal; i += kThreads) {
      const int row = i / kPieces;
      const int c = i % kPieces * kPiece;
      const bool there = first + row < end && c < from.channels;
      copy_piece(tile + row * kStride + c, there ? from.at(first + row) + c : from.base, there);
    }
  } else {
#pragma unroll 1
    for (int i = thread; i < kRows * kChannels; i += kThreads) {
      const int row = i / kChannels;
      const int c = i % kChannels;
      const bool there = first + row < end && c < from.channels;
      tile[row * kStride + c] =
          there ? from.at(first + row)[c * from.channel] : from_float<T>(0.0f);
    }
  }
}

/// Two neighbouring channels of a row, those that exist.
template <class T>
__device__ __forceinline__ void store_pair(const DeviceRows<T>& to, int row, int c, float first,
                                           float second) {
  T* at = to.at(row) + c * to.channel;
  if (to.whole && c < to.channels) {
    if constexpr (sizeof(T) == 2) {
      *reinterpret_cast<std::uint32_t*>(at) = pack_pair<T>(first, second);
    } else {
      *reinterpret_cast<float2*>(at) = {first, second};
    }
    return;
  }
  if (c < to.channels) at[0] = from_float<T>(first);
  if (c + 1 < to.channels) at[to.channel] = from_float<T>(second);
}

}  // namespace attn::gpu
