/// PictureGrid: convolutions that turn a picture in colour into a grid of places.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/conv.hpp"

namespace attn::tasks::vqa {

/// Four convolutions, the first two in steps of two pixels. Of a grid of 16 x 16 a place stands
/// for 4 x 4 pixels and sees 25 x 25; of one of 8 x 8, halved behind the third, for 8 x 8 and
/// 37 x 37. The third reads the coordinates too, as two more channels (Liu et al., 2018,
/// arXiv:1807.03247).
class PictureGrid : public nn::Module {
 public:
  PictureGrid(std::int64_t channels, std::int64_t grid);

  /// pictures [batch, 3, side, side], 0 to 1 -> [batch, places, channels], row by row.
  Tensor operator()(const Tensor& pictures) const;

  static constexpr std::int64_t kSide = 64;    ///< pixels
  std::int64_t grid() const { return grid_; }  ///< rows and columns of places

 private:
  std::int64_t grid_;
  nn::Conv2d first_;
  nn::Conv2d second_;
  nn::Conv2d third_;
  nn::Conv2d fourth_;
};

}  // namespace attn::tasks::vqa
