/// Attention that a user steers: a prior added to the scores, or weights set by hand. Nothing
/// is learnt; it looks into a trained model, or corrects it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/attend.hpp"

namespace attn::nn {

/// What the user wants; everything may be left out.
struct Steering {
  Tensor prior{};             ///< [batch, queries, keys], added to the scores
  double prior_weight = 1.0;  ///< times this
  Tensor forced_mask{};       ///< boolean [batch, queries, keys]: true, the weight is given
  Tensor forced_weight{};     ///< [batch, queries, keys], read where the mask is true
};

/// w = softmax(scores + prior_weight * prior) where nothing is forced. Where forced_mask is
/// true w is forced_weight; the other kept places share 1 - sum(forced) by softmax. Forcing a
/// masked place does nothing; if no place is left to share, the rest of the mass is dropped.
///
/// scores [batch, queries, keys], values [batch, keys, value_dim]. Forced weights and the
/// scores behind them get no gradient, and the share of the rest counts as a constant. Forced
/// weights that sum to more than 1 throw InvalidArgument.
Attended forced_attention(const Tensor& scores, const Tensor& values,
                          const Steering& steering = {}, const Mask& keep = {},
                          const Want& want = Want::output);

}  // namespace attn::nn
