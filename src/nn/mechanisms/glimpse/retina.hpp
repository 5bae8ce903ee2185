/// Where the cells of a glimpse lie: one geometry for both devices, and glimpses on the GPU.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// The sizes of a call. Patches are [batch, scale, channel, y, x]; each cell of scale s
/// averages a block of scale^s times as many pixels on a side. Outside the image there are
/// zeros, which still count.
struct Retina {
  std::int64_t batch = 0;
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t patch = 0;   ///< cells on a side
  std::int64_t scales = 0;  ///< patches of an image
  std::int64_t scale = 1;   ///< from one patch to the next

  std::int64_t cells() const { return batch * scales * channels * patch * patch; }
  std::int64_t pixels() const { return batch * channels * height * width; }

  /// Pixels on a side of a cell of scale s.
  ATTN_FN std::int64_t block(std::int64_t s) const {
    std::int64_t side = 1;
    for (std::int64_t i = 0; i < s; ++i) side *= scale;
    return side;
  }
  /// The first pixel of a patch along an axis.
  ATTN_FN std::int64_t begin(std::int64_t centre, std::int64_t s) const {
    return centre - patch * block(s) / 2;
  }

  /// The average of one cell. Centres are x, y of each image.
  template <class T>
  ATTN_FN T look(const T* image, const std::int64_t* centres, std::int64_t cell) const {
    const std::int64_t x = cell % patch;
    const std::int64_t y = cell / patch % patch;
    const std::int64_t c = cell / patch / patch % channels;
    const std::int64_t s = cell / patch / patch / channels % scales;
    const std::int64_t b = cell / patch / patch / channels / scales;
    const std::int64_t side = block(s);
    const std::int64_t left = begin(centres[2 * b], s) + x * side;
    const std::int64_t top = begin(centres[2 * b + 1], s) + y * side;
    const T* plane = image + (b * channels + c) * height * width;
    double total = 0.0;
    for (std::int64_t row = top < 0 ? 0 : top; row < top + side && row < height; ++row)
      for (std::int64_t at = left < 0 ? 0 : left; at < left + side && at < width; ++at)
        total += static_cast<double>(plane[row * width + at]);
    return static_cast<T>(total / static_cast<double>(side * side));
  }

  /// The gradient of one pixel: its share of the one cell of each scale that saw it.
  template <class T>
  ATTN_FN T spread(const T* patches, const std::int64_t* centres, std::int64_t pixel) const {
    const std::int64_t x = pixel % width;
    const std::int64_t y = pixel / width % height;
    const std::int64_t c = pixel / width / height % channels;
    const std::int64_t b = pixel / width / height / channels;
    T total = T(0);
    for (std::int64_t s = 0; s < scales; ++s) {
      const std::int64_t side = block(s);
      const std::int64_t right = x - begin(centres[2 * b], s);
      const std::int64_t down = y - begin(centres[2 * b + 1], s);
      if (right < 0 || down < 0 || right >= patch * side || down >= patch * side) continue;
      const std::int64_t cell =
          (((b * scales + s) * channels + c) * patch + down / side) * patch + right / side;
      total += patches[cell] / static_cast<T>(side * side);
    }
    return total;
  }
};

}  // namespace attn::nn

namespace attn::gpu {

/// patches = what the retina sees of the packed image; f32 or f64, centres i64 [batch, 2].
void glimpse(const nn::Retina& retina, const Tensor& image, const Tensor& centres,
             const Tensor& patches);
void glimpse_backward(const nn::Retina& retina, const Tensor& grad, const Tensor& centres,
                      const Tensor& down);

}  // namespace attn::gpu
