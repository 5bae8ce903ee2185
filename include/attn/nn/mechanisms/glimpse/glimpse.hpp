/// The retina: patches around a place, each a step coarser than the last. Mnih, Heess, Graves
/// and Kavukcuoglu, 2014, arXiv:1406.6247.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/tensor.hpp"

namespace attn::nn {

struct GlimpseOptions {
  std::int64_t patch_size = 8;
  std::int64_t num_scales = 1;
  std::int64_t scale = 2;  ///< how much wider each patch is than the one before
};

/// Scale k crops a square of side n = patch_size scale^k whose corner is c - n / 2 and averages
/// blocks of it down to patch_size; what lies outside the image is 0.
///
/// image [batch, channels, height, width], location [batch, 2] as (x, y) in [-1, 1], (-1, -1)
/// the top left corner: c = floor((l + 1) / 2 * size). The result is [batch, num_scales,
/// channels, patch_size, patch_size]. Gradient to the image alone.
Tensor glimpse(const Tensor& image, const Tensor& location, const GlimpseOptions& options = {});

}  // namespace attn::nn
