/// PixelDecoder: a causal Transformer over the pixels of a picture, one after the other.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "attn/nn/attention/kv_cache.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/norm.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks::paint {

struct DecoderOptions {
  std::int64_t dim = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t feed_forward = 0;
  double dropout = 0.0;
};

/// x_i = W (pixels near i that come before it) + row + column + class, all learnt;
/// x = layer(x) with causal attention; logits_i = output(norm(x_i)), of paper and ink. Position
/// i has seen the pixels before i alone.
class PixelDecoder : public nn::Module {
 public:
  explicit PixelDecoder(const DecoderOptions& options);

  /// pixels f32 [batch, 1, 28, 28] of 0 and 1, classes i64 [batch], kClasses: unknown ->
  /// [batch, 784, 2].
  Tensor logits(const Tensor& pixels, const Tensor& classes) const;
  /// What each pixel looked at, [batch, heads, 784, 784] for every layer.
  std::vector<Tensor> weights(const Tensor& pixels, const Tensor& classes) const;

  /// A picture that is painted pixel by pixel.
  struct Canvas {
    std::vector<nn::KvCache> caches;
    Tensor places;  ///< [784, dim]: row, column and class
  };
  /// Behind `count` pixels that are there: logits of the next one, [2].
  Tensor begin(const Tensor& pixels, std::int64_t count, const Tensor& classes,
               Canvas& canvas) const;
  /// Logits of the pixel `at` behind those before it, [2].
  Tensor next(const Tensor& pixels, std::int64_t at, Canvas& canvas) const;

 private:
  Tensor places_of(const Tensor& classes) const;  ///< [batch, 784, dim]
  Tensor near(const Tensor& pixels) const;        ///< [batch, 784, dim]
  Tensor window() const;                          ///< [dim, 1, 9, 9], 0 for later pixels
  Tensor through(Tensor x, Canvas* canvas, std::vector<Tensor>* weights) const;

  DecoderOptions options_;
  Tensor window_;   ///< [dim, 1, 9, 9]
  Tensor rows_;     ///< [28, dim]
  Tensor columns_;  ///< [28, dim]
  Tensor classes_;  ///< [kClasses + 1, dim]
  std::vector<nn::TransformerLayer> layers_;
  nn::Norm norm_;
  nn::Linear output_;
  nn::Dropout dropout_;
};

}  // namespace attn::tasks::paint
