/// A convolution as a product: what the kernel sees at each place becomes a column, and back.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdint>

#include "attn/gemm/conv.hpp"

namespace attn::gemm {

/// Some places of one image of y, in the order of memory.
struct Places {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

/// What unfold() and fold() walk along: the places of a stretch that one number of the kernel
/// joins with x, a row of y at a time.
class Unfolding {
 public:
  explicit Unfolding(const ConvShape& shape)
      : shape_(shape),
        y_size_(shape.out_size()),
        taps_(shape.kernel[0] * shape.kernel[1]),
        plane_(shape.size[0] * shape.size[1]) {}

  std::int64_t taps() const { return taps_; }
  /// Numbers of the kernel that one place of y is a sum over.
  std::int64_t depth() const { return shape_.in * taps_; }
  std::int64_t places() const { return y_size_[0] * y_size_[1]; }

  /// columns[row * stride + i] = what number `row` of the kernel sees at place i of `at`, zero
  /// beyond the image.
  void unfold(const float* x, Places at, float* columns, std::int64_t stride) const {
    for (std::int64_t row = 0; row < depth(); ++row)
      each_run(row, at, [&](const Run& run) {
        float* to = columns + row * stride + run.place;
        std::fill_n(to, run.before, 0.0f);
        copy(x + run.x, shape_.stride[1], run.count, to + run.before);
        std::fill_n(to + run.before + run.count, run.after, 0.0f);
      });
  }

  /// Adds rows [first, last) of `columns`, of which `columns` holds the first, to where they
  /// came from.
  void fold(const float* columns, std::int64_t stride, std::int64_t first, std::int64_t last,
            Places at, float* dx) const {
    for (std::int64_t row = first; row < last; ++row)
      each_run(row, at, [&](const Run& run) {
        const float* from = columns + (row - first) * stride + run.place + run.before;
        add(from, run.count, dx + run.x, shape_.stride[1]);
      });
  }

 private:
  /// Places of one row of y: `before` and `after` see nothing, `count` see x from `x` on.
  struct Run {
    std::int64_t place;
    std::int64_t before;
    std::int64_t count;
    std::int64_t after;
    std::int64_t x;
  };

  static void copy(const float* from, std::int64_t step, std::int64_t count, float* to) {
    if (step == 1) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * step];
    }
  }
  static void add(const float* from, std::int64_t count, float* to, std::int64_t step) {
    if (step == 1) {
      for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i * step] += from[i];
    }
  }

  template <class Visit>
  void each_run(std::int64_t row, Places at, const Visit& visit) const {
    const std::int64_t channel = row / taps_;
    const std::int64_t tap = row % taps_;
    const std::int64_t down =
        tap / shape_.kernel[1] * shape_.dilation[0] - shape_.pad_before[0];
    const std::int64_t right =
        tap % shape_.kernel[1] * shape_.dilation[1] - shape_.pad_before[1];
    // Columns of y in [low, high) see a column of x.
    const std::int64_t step = shape_.stride[1];
    const std::int64_t low = right >= 0 ? 0 : (-right + step - 1) / step;
    const std::int64_t high =
        right >= shape_.size[1] ? 0 : (shape_.size[1] - right + step - 1) / step;
    const std::int64_t end = at.begin + at.count;
    for (std::int64_t place = at.begin; place < end;) {
      const std::int64_t i = place / y_size_[1];
      const std::int64_t j = place % y_size_[1];
      const std::int64_t length = std::min(y_size_[1] - j, end - place);
      const std::int64_t y = i * shape_.stride[0] + down;
      const bool inside = y >= 0 && y < shape_.size[0];
      const std::int64_t from = inside ? std::clamp(low, j, j + length) : j + length;
      const std::int64_t to = inside ? std::clamp(high, from, j + length) : from;
      visit(Run{.place = place - at.begin,
                .before = from - j,
                .count = to - from,
                .after = j + length - to,
                .x = channel * plane_ + y * shape_.size[1] + from * step + right});
      place += length;
    }
  }

  ConvShape shape_;
  std::array<std::int64_t, 2> y_size_;
  std::int64_t taps_;
  std::int64_t plane_;
};

}  // namespace attn::gemm
