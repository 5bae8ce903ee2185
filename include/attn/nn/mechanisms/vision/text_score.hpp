/// How a text scores a part of an image: additively, or by a learnt product. What spatial and
/// box attention share.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/module.hpp"
#include "attn/tensor/spec/score.hpp"

namespace attn::nn {

/// additive: w . tanh(W_v part + W_t text + b). general: text^T W_a part.
enum class TextScoreKind { additive, general };

struct TextScoreOptions {
  std::int64_t image_dim;
  std::int64_t text_dim;
  std::int64_t hidden_dim = 0;  ///< of additive
  TextScoreKind kind = TextScoreKind::additive;
};

/// A base of modules: its parameters carry the names of the module itself.
class TextScored : public Module {
 protected:
  explicit TextScored(const TextScoreOptions& options);

  Tensor queries(const Tensor& text) const;  ///< [..., text_dim] -> what attend() takes
  Tensor keys(const Tensor& parts) const;    ///< [..., image_dim]
  spec::Score score() const;

 private:
  TextScoreKind kind_;
  Tensor w_v_;  ///< "W_v.weight" [hidden_dim, image_dim]
  Tensor w_t_;  ///< "W_t.weight" [hidden_dim, text_dim]
  Tensor b_t_;  ///< "W_t.bias" [hidden_dim]
  Tensor w_;    ///< "w" [hidden_dim]
  Tensor w_a_;  ///< "W_a.weight" [text_dim, image_dim]
};

}  // namespace attn::nn
