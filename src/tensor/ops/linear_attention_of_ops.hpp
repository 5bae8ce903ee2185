/// Linear attention made of other ops, for devices without a backward of its own.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/ops/linear_attention.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::op {

/// The same as linear_attention() for checked inputs in f32 or f64, on the tape of the ops that
/// it is made of.
LinearAttended linear_attention_of_ops(const Tensor& q, const Tensor& k, const Tensor& v,
                                       const LinearGates& gates, const Tensor& state,
                                       double scale);

}  // namespace attn::op
