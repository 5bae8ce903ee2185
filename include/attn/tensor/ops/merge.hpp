/// Two partial attentions over different keys make the whole.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"

namespace attn {

/// What attend() gives for Want::output | Want::log_sum_exp.
struct PartialAttention {
  Tensor output;       ///< [..., value channels]
  Tensor log_sum_exp;  ///< [...]; -inf: no keys
};

/// lse = log(e^la + e^lb), out = e^(la - lse) oa + e^(lb - lse) ob, the maximum subtracted.
/// A part of -inf changes nothing, and its output is not read; two of them give output 0 and
/// -inf. Milakov and Gimelshein, 2018, arXiv:1805.02867.
PartialAttention merge_states(const PartialAttention& a, const PartialAttention& b);

}  // namespace attn
