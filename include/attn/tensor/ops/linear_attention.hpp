/// Linear attention: keys write into a state of fixed size, queries read it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"

namespace attn {

/// What changes the state beside keys and values. Which are there chooses the update rule of
/// attn/pool/linear.hpp: none, linear; decay, gated; beta, delta; both, gated delta.
struct LinearGates {
  Tensor decay = {};  ///< [batch, kv_heads, steps, 1 or channels]: logarithms, at most 0
  Tensor beta = {};   ///< [batch, kv_heads, steps]: how much of a new value is written
};

struct LinearAttended {
  Tensor output = {};  ///< [batch, heads, steps, value channels]
  Tensor state = {};   ///< [batch, kv_heads, channels, value channels], after the last step
};

/// For t = 0, 1, ..., S_(-1) being `state` (zeros if it is not given):
///
///     S  = diag(e^decay_t) S_(t-1),   w_t = v_t   or   beta_t (v_t - S^T k_t)
///     S_t = S + k_t w_t^T,            out_t = scale S_t^T q_t
///
/// q [batch, heads, steps, channels], k [batch, kv_heads, steps, channels], v [batch, kv_heads,
/// steps, value channels]; query head h reads the state of kv head h / (heads / kv_heads). The
/// result's state goes into the next call, so that decoding continues where a text ended.
///
/// Time is linear in the steps. Backward runs in chunks: matrix products within one, the state
/// from one to the next; it keeps nothing but the inputs and computes the chunks' states again.
/// So does forward where that is faster than step by step, which is from 128 channels on; a
/// number that is not finite may then reach the outputs of its chunk that come before it.
/// Differentiable in everything, the state included, for f32 and f64; 16-bit inputs are
/// widened, and their state is f32. On the GPU steps follow one another in one kernel; where a
/// gradient is wanted other ops compute it, in chunks, and keep what they need.
LinearAttended linear_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                const LinearGates& gates = {}, const Tensor& state = {},
                                double scale = 1.0);

}  // namespace attn
