/// Packing: rows of any storage type and stride become fp32, row by row or turned into the
/// panels that the products stream.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/cpu/transpose.hpp"

namespace attn::cpu::inline ATTN_TARGET {

ATTN_FN constexpr int round_up(int count, int step) {
  return (count + step - 1) / step * step;
}

template <class T>
ATTN_FN void read_row(const T* from, std::int64_t step, int count, float* to) {
  int c = 0;
  if (step == 1) {
    for (; c + kLanes <= count; c += kLanes) Lane::load(from + c).store(to + c);
  }
  for (; c < count; ++c) to[c] = static_cast<float>(from[c * step]);
}
template <class T>
ATTN_FN void write_row(const float* from, int count, T* to, std::int64_t step) {
  int c = 0;
  if (step == 1) {
    for (; c + kLanes <= count; c += kLanes) Lane::load(from + c).store(to + c);
  }
  for (; c < count; ++c) to[c * step] = static_cast<T>(from[c]);
}

/// Calls run(T()) with the storage type of a dtype.
template <class Run>
ATTN_FN void with_type(DType dtype, const Run& run) {
  if (dtype == DType::bf16) {
    run(BFloat16());
  } else if (dtype == DType::f16) {
    run(Float16());
  } else {
    run(float());
  }
}

/// Rows [first, first + count) as fp32 [count, stride], zeros from `channels` to `stride`.
[[gnu::noinline]] inline void read_rows(const RawRows& rows, int first, int count, int channels,
                                        float* to, std::int64_t stride) {
  with_type(rows.dtype, [&](auto type) ATTN_LAMBDA {
    const auto typed = rows.as<const decltype(type)>();
    for (int j = 0; j < count; ++j) {
      read_row(typed.at(first + j), typed.channel, channels, to + j * stride);
      for (std::int64_t c = channels; c < stride; ++c) to[j * stride + c] = 0.0f;
    }
  });
}

/// Asks for rows [first, end) of whole lines in the second cache; nothing waits for them.
ATTN_FN void prefetch_rows(const RawRows& rows, int first, int end, int channels) {
  if (rows.channel != 1 || rows.pages != nullptr) return;
  constexpr std::int64_t kLine = 64;
  const auto size = static_cast<std::int64_t>(size_of(rows.dtype));
  for (int r = first; r < end; ++r) {
    const char* row = static_cast<const char*>(rows.base) + r * rows.row * size;
    for (std::int64_t byte = 0; byte < channels * size; byte += kLine)
      __builtin_prefetch(row + byte, 0, 2);
  }
}

/// fp32 rows: element (r, c) is data[r * stride + c].
struct FloatRows {
  const float* data;
  std::int64_t stride;
};

/// Whether rows [count, stride] hold neither NaN nor infinity: x - x is zero just then.
ATTN_FN bool all_finite(const float* rows, std::int64_t stride, int count, int channels) {
  Lane rest[2] = {Lane(0.0f), Lane(0.0f)};
  for (int r = 0; r < count; ++r) {
    const float* row = rows + r * stride;
    int c = 0;
    for (; c + 2 * kLanes <= channels; c += 2 * kLanes)
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        const Lane x = Lane::load(row + c + i * kLanes);
        rest[i] += x - x;
      }
    for (; c < channels; c += kLanes) rest[0] += Lane::load(row + c) - Lane::load(row + c);
  }
  return reduce_sum(rest[0] + rest[1]) == 0.0f;
}

/// Whether rows are near enough for a product to stream over them where they lie. Rows a KiB
/// or more apart would share few sets of the first cache; they are copied.
ATTN_FN bool lies_close(const RawRows& rows) {
  constexpr std::int64_t kNear = 256;
  return rows.row < kNear;
}

/// Whether float_rows() will find rows where they lie.
ATTN_FN bool lies_as_float(const RawRows& rows, int channels) {
  return rows.dtype == DType::f32 && rows.channel == 1 && rows.pages == nullptr &&
         channels % kLanes == 0;
}

/// Rows [first, first + count) where they lie, if they are fp32 in whole vectors; else read
/// into `buffer`.
ATTN_FN FloatRows float_rows(const RawRows& rows, int first, int count, int channels,
                             float* buffer, std::int64_t stride) {
  if (lies_as_float(rows, channels))
    return {static_cast<const float*>(rows.base) + first * rows.row, rows.row};
  read_rows(rows, first, count, channels, buffer, stride);
  return {buffer, stride};
}

/// The reverse: fp32 [count, stride] into rows.
[[gnu::noinline]] inline void write_rows(const float* from, std::int64_t stride, int count,
                                         int channels, const RawRows& rows, int first) {
  with_type(rows.dtype, [&](auto type) ATTN_LAMBDA {
    const auto typed = rows.as<decltype(type)>();
    for (int j = 0; j < count; ++j)
      write_row(from + j * stride, channels, typed.at(first + j), typed.channel);
  });
}

/// The same with each row multiplied by its own factor. Returns whether what it wrote is
/// finite: x - x is zero just then.
[[gnu::noinline]] inline bool write_scaled_rows(float* from, std::int64_t stride, int count,
                                                int channels, const float* factor,
                                                const RawRows& rows, int first) {
  const bool in_place = rows.dtype == DType::f32 && rows.channel == 1 && channels % kLanes == 0;
  Lane rest(0.0f);
  for (int r = 0; r < count; ++r) {
    float* row = from + r * stride;
    float* to = in_place ? static_cast<float*>(rows.base) + (first + r) * rows.row : row;
    const Lane by(factor[r]);
    for (int c = 0; c < channels; c += kLanes) {
      const Lane x = Lane::load(row + c) * by;
      rest += x - x;
      x.store(to + c);
    }
  }
  if (!in_place) write_rows(from, stride, count, channels, rows, first);
  return reduce_sum(rest) == 0.0f;
}

/// Turns kLanes rows, channels [c, c + kLanes) of them, and multiplies them by `scale`. Row r
/// is at from + r * stride if r < count, and zero otherwise.
template <bool kWhole>
ATTN_FN void transpose_square(const float* from, std::int64_t stride, int count, int channels,
                              Lane scale, float* to) {
  Lane square[kLanes];
#pragma GCC unroll 16
  for (int r = 0; r < kLanes; ++r)
    square[r] = kWhole || r < count ? Lane::load(from + r * stride) : Lane(0.0f);
  transpose(square);
#pragma GCC unroll 16
  for (int r = 0; r < kLanes; ++r)
    if (kWhole || r < channels) (square[r] * scale).store(to + r * kPanel);
}

/// Turns fp32 rows [count, stride] into panels [channels, kPanel] of kPanel rows each; rows
/// past `count` become zeros, all others are multiplied by `scale`. Rows are read to the end of
/// their last vector.
[[gnu::noinline]] inline void transpose_panels(const float* from, std::int64_t stride,
                                               int count, int channels, float scale,
                                               float* panels) {
  const Lane by(scale);
  for (int j = 0; j < round_up(count, kPanel); j += kLanes) {
    float* panel =
        panels + static_cast<std::int64_t>(j / kPanel * kPanel) * channels + j % kPanel;
    const float* rows = from + j * stride;
    const int left = count - j;
    int c = 0;
    if (left >= kLanes)
      for (; c + kLanes <= channels; c += kLanes)
        transpose_square<true>(rows + c, stride, left, kLanes, by, panel + c * kPanel);
    for (; c < channels; c += kLanes)
      transpose_square<false>(rows + c, stride, left, channels - c, by, panel + c * kPanel);
  }
}

/// Cuts fp32 rows [count, stride] into panels [count, kPanel] of kPanel channels each; `stride`
/// is at least `channels` rounded up to a vector, and holds zeros past `channels`.
[[gnu::noinline]] inline void slice_panels(const float* from, std::int64_t stride, int count,
                                           int channels, float* panels, int panel_rows) {
  for (int c = 0; c < channels; c += kPanel) {
    float* panel = panels + static_cast<std::int64_t>(c) * panel_rows;
    const int vectors = channels - c > kLanes ? kVectors : 1;
    for (int j = 0; j < count; ++j)
      for (int v = 0; v < vectors; ++v)
        Lane::load(from + j * stride + c + v * kLanes).store(panel + j * kPanel + v * kLanes);
  }
}

}  // namespace attn::cpu::inline ATTN_TARGET
