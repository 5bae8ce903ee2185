// Unfolding of convolutions for one instruction set.
#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "gemm/cpu/unfold_table.hpp"
#include "kernels/cpu/isa_table.hpp"

namespace attn::cpu::inline ATTN_TARGET {
namespace {

ATTN_FN void clear(float* to, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) Lane(0.0f).store(to + i);
  for (; i < count; ++i) to[i] = 0.0f;
}

/// Calls run(from x, into the image, count) for the pieces of row `row` of the image that x
/// has: column i of the first is `stride` times i columns of x behind its start.
template <class Run>
ATTN_FN void each_phase(const PaddedImage& image, const Run& run) {
  const std::int64_t stride = image.shape.stride[1];
  const std::int64_t pad = image.shape.pad_before[1];
  for (std::int64_t phase = 0; phase < stride; ++phase) {
    // Columns column * stride + phase of the image are column - pad of x.
    const std::int64_t first = pad > phase ? (pad - phase + stride - 1) / stride : 0;
    const std::int64_t end = (image.shape.size[1] + pad - phase + stride - 1) / stride;
    const std::int64_t last = end < image.width ? end : image.width;
    if (first < last)
      run(first * stride + phase - pad, phase * image.width + first, last - first);
  }
}

/// to[j] = from[j * step]
ATTN_FN void gather(const float* from, std::int64_t step, std::int64_t count, float* to) {
  std::int64_t j = 0;
  if (step == 1) {
    for (; j + kLanes <= count; j += kLanes) Lane::load(from + j).store(to + j);
    if (j < count) {
      const int left = static_cast<int>(count - j);
      Lane::load(from + j, left).store(to + j, left);
    }
  } else if (step == 2) {
    // The last number has none behind it that may be read.
    for (; j < count; j += kLanes) {
      const std::int64_t left = count - j < kLanes ? count - j : kLanes;
      const std::int64_t numbers = 2 * left - 1;
      const Lane lower =
          Lane::load(from + 2 * j, static_cast<int>(numbers < kLanes ? numbers : kLanes));
      const Lane upper = numbers > kLanes ? Lane::load(from + 2 * j + kLanes,
                                                       static_cast<int>(numbers - kLanes))
                                          : Lane(0.0f);
      Lane(simd::ConcatEven(FloatTag(), upper.raw, lower.raw))
          .store(to + j, static_cast<int>(left));
    }
  } else {
    for (; j < count; ++j) to[j] = from[j * step];
  }
}

void pad(const PaddedImage& image, const float* x, float* padded) {
  for (std::int64_t channel = 0; channel < image.shape.in; ++channel)
    for (std::int64_t row = 0; row < image.rows; ++row) {
      const std::int64_t i = row - image.shape.pad_before[0];
      if (i < 0 || i >= image.shape.size[0]) continue;
      const float* from = x + (channel * image.shape.size[0] + i) * image.shape.size[1];
      float* to = padded + (channel * image.rows + row) * image.row;
      each_phase(image,
                 [&](std::int64_t start, std::int64_t place, std::int64_t count) ATTN_LAMBDA {
                   gather(from + start, image.shape.stride[1], count, to + place);
                 });
    }
}

void unpad(const PaddedImage& image, const float* padded, float* x) {
  const std::int64_t step = image.shape.stride[1];
  clear(x, image.shape.in * image.shape.size[0] * image.shape.size[1]);
  for (std::int64_t channel = 0; channel < image.shape.in; ++channel)
    for (std::int64_t row = 0; row < image.rows; ++row) {
      const std::int64_t i = row - image.shape.pad_before[0];
      if (i < 0 || i >= image.shape.size[0]) continue;
      float* to = x + (channel * image.shape.size[0] + i) * image.shape.size[1];
      const float* from = padded + (channel * image.rows + row) * image.row;
      each_phase(image,
                 [&](std::int64_t start, std::int64_t place, std::int64_t count) ATTN_LAMBDA {
                   if (step == 1) {
                     gather(from + place, 1, count, to + start);
                   } else {
                     for (std::int64_t j = 0; j < count; ++j)
                       to[start + j * step] = from[place + j];
                   }
                 });
    }
}

/// Where the image begins that number `tap` of a kernel's plane sees.
ATTN_FN std::int64_t start_of(const PaddedImage& image, std::int64_t tap, const Places& at) {
  const std::int64_t down = tap / image.shape.kernel[1] * image.shape.dilation[0];
  const std::int64_t right = tap % image.shape.kernel[1] * image.shape.dilation[1];
  return (at.row * image.shape.stride[0] + down) * image.row +
         right % image.shape.stride[1] * image.width + right / image.shape.stride[1] +
         at.column;
}

void unfold(const PaddedImage& image, const float* padded, const Places& at, float* seen,
            std::int64_t stride) {
  const std::int64_t plane = image.rows * image.row;
  const std::int64_t step = image.shape.stride[0] * image.row;
  const std::int64_t taps = image.taps();
  const std::int64_t vectors = (at.columns + kLanes - 1) / kLanes * kLanes;
  const std::int64_t room = at.count() - vectors;
  const std::int64_t whole = room < 0 ? 0 : room / at.columns + 1;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    const float* start = padded + start_of(image, tap, at);
    for (std::int64_t channel = 0; channel < image.shape.in; ++channel) {
      const float* from = start + channel * plane;
      float* to = seen + (channel * taps + tap) * stride;
      std::int64_t row = 0;
      // Whole vectors, as long as what is too much of a row lies in those behind it, which are
      // written over it.
      for (; row < whole; ++row, from += step, to += at.columns)
        for (std::int64_t j = 0; j < at.columns; j += kLanes)
          Lane::load(from + j).store(to + j);
      for (; row < at.rows; ++row, from += step, to += at.columns)
        for (std::int64_t j = 0; j < at.columns; j += kLanes) {
          const std::int64_t left = at.columns - j;
          if (left >= kLanes) {
            Lane::load(from + j).store(to + j);
          } else {
            Lane::load(from + j).store(to + j, static_cast<int>(left));
          }
        }
    }
  }
}

/// to[j] += from[j], in vectors of kWidth and what is left of them in smaller ones. Masked
/// vectors would do, but whoever reads the next row waits for a masked store as if it were a
/// whole one.
template <int kWidth = kLanes>
ATTN_FN void add(const float* from, std::int64_t count, float* to) {
  if constexpr (kWidth >= 4) {
    const simd::FixedTag<float, kWidth> tag;
    std::int64_t j = 0;
    for (; j + kWidth <= count; j += kWidth)
      simd::StoreU(simd::LoadU(tag, to + j) + simd::LoadU(tag, from + j), tag, to + j);
    add<kWidth / 2>(from + j, count - j, to + j);
  } else {
    for (std::int64_t j = 0; j < count; ++j) to[j] += from[j];
  }
}

void fold(const PaddedImage& image, const float* seen, std::int64_t stride, std::int64_t first,
          std::int64_t last, const Places& at, float* padded) {
  const std::int64_t plane = image.rows * image.row;
  const std::int64_t step = image.shape.stride[0] * image.row;
  const std::int64_t taps = image.taps();
  // Channel by channel: two numbers of a kernel add to much the same places, and the second
  // would wait for what the first has just stored.
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    const std::int64_t start = start_of(image, tap, at);
    for (std::int64_t channel = first / taps; channel < last / taps; ++channel) {
      const float* from = seen + (channel * taps + tap - first) * stride;
      float* to = padded + channel * plane + start;
      for (std::int64_t i = 0; i < at.rows; ++i, from += at.columns, to += step) {
        add(from, at.columns, to);
      }
    }
  }
}

}  // namespace
}  // namespace attn::cpu::inline ATTN_TARGET

namespace attn::cpu {

template <>
const UnfoldTable& isa_table<UnfoldTable, Target::ATTN_TARGET>() {
  static constexpr UnfoldTable kTable{&pad, &unfold, &fold, &unpad};
  return kTable;
}

}  // namespace attn::cpu
