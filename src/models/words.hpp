/// Words in and words out: the tables that turn tokens into vectors and vectors into scores of
/// tokens, one, two or three of them. Press and Wolf, 2017, arXiv:1608.05859.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/dtype.hpp"
#include "attn/models/options.hpp"
#include "attn/nn/dropout.hpp"
#include "models/packed_linear.hpp"

namespace attn::models {

/// Rows begin with length 1, so that scores of states begin near 0; read as vectors they are
/// scaled by sqrt(dim), so that an entry is near 1.
class Words : public nn::Module {
 public:
  explicit Words(const ModelOptions& options);

  /// ids i64 [...] -> [..., dim], with dropout.
  Tensor source(const Tensor& ids) const;
  Tensor target(const Tensor& ids) const;
  /// x [..., dim] -> logits [..., target vocabulary], with dropout in front.
  Tensor logits(const Tensor& x) const;
  /// The same for a decoding, without dropout.
  PackedLinear packed_output(PackedLayers& packed) const { return packed.get(output_, bias_); }
  DType dtype() const { return target_.dtype(); }
  Device device() const { return target_.device(); }
  Tensor drop(const Tensor& x) const { return dropout_(x); }

 private:
  Tensor read(const Tensor& table, const Tensor& ids) const;
  Tensor seen_words(const Tensor& vectors) const;

  nn::Dropout dropout_;
  nn::Dropout word_dropout_;  ///< of whole vectors; what is copied stays
  Tensor target_;             ///< "target" [target vocabulary, dim]
  Tensor source_;             ///< "source" [source vocabulary, dim], or the target's
  Tensor output_;             ///< "output" [target vocabulary, dim], or the target's
  Tensor bias_;               ///< "bias" [target vocabulary]
};

}  // namespace attn::models
