/// The attention of Listen, Attend and Spell: query and keys each pass one layer before their
/// dot product. Chan et al., 2016, arXiv:1508.01211.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"

namespace attn::nn {

struct LasAttentionOptions {
  std::int64_t encoder_dim;
  std::int64_t query_dim;
  std::int64_t hidden;
  Activation activation = Activation::relu;
};

/// w = softmax(phi(s) . psi(h)), context = sum w h; phi and psi are one linear layer each, with
/// the activation.
class LasAttention : public Module {
 public:
  explicit LasAttention(const LasAttentionOptions& options);

  /// encoder [batch, frames, encoder_dim], queries [batch, steps, query_dim].
  Attended forward(const Tensor& encoder, const Tensor& queries, const Tensor& lengths = {},
                   const Want& want = Want::output) const;

 private:
  Activation activation_;
  Linear phi_;  ///< "phi" [hidden, query_dim]
  Linear psi_;  ///< "psi" [hidden, encoder_dim]
};

}  // namespace attn::nn
