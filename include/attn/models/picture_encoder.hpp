/// PictureEncoder: convolutions that turn a picture into a grid of annotations, each of a small
/// part of it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/conv.hpp"

namespace attn::models {

struct PictureEncoderOptions {
  std::int64_t side;      ///< of the square picture, a multiple of 8
  std::int64_t channels;  ///< of an annotation, a multiple of 3
};

struct EncodedPicture {
  Tensor annotations;  ///< [batch, places, channels], places row by row
  Tensor layout;       ///< [batch, layout_size()]: a small map of the whole
};

/// Four convolutions, 5 × 5 and then 3 × 3, the first two in steps of two pixels: a place
/// stands for 4 × 4 pixels and sees 25 × 25. Small on purpose: a place far from a thing cannot
/// tell what it is, so attention has to go there. The third convolution reads the coordinates
/// too, as two more channels (Liu et al., 2018, arXiv:1807.03247).
class PictureEncoder : public nn::Module {
 public:
  explicit PictureEncoder(const PictureEncoderOptions& options);

  /// pictures [batch, side, side].
  EncodedPicture operator()(const Tensor& pictures) const;

  std::int64_t grid() const { return options_.side / 4; }  ///< rows and columns of places
  std::int64_t layout_size() const;

 private:
  PictureEncoderOptions options_;
  nn::Conv2d first_;
  nn::Conv2d second_;
  nn::Conv2d third_;
  nn::Conv2d fourth_;
  nn::Conv2d layout_;
};

}  // namespace attn::models
