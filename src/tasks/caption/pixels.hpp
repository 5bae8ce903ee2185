/// Bytes of canvases as the numbers a model reads.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {

/// [canvases, 64, 64], 0 to 1.
inline Tensor canvas_tensor(std::span<const std::vector<std::uint8_t>> canvases) {
  constexpr auto kPixels = static_cast<std::size_t>(kCanvasSide * kCanvasSide);
  std::vector<float> numbers;
  numbers.reserve(canvases.size() * kPixels);
  for (const auto& canvas : canvases) {
    if (canvas.size() != kPixels)
      fail("attn::tasks::caption: a canvas of ", canvas.size(), " bytes; ", kPixels,
           " are accepted");
    for (const std::uint8_t pixel : canvas)
      numbers.push_back(static_cast<float>(pixel) / 255.0f);
  }
  return Tensor::from(numbers,
                      {static_cast<std::int64_t>(canvases.size()), kCanvasSide, kCanvasSide});
}

}  // namespace attn::tasks
