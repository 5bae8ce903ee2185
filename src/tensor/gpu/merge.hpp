/// Merging attention over two sets of keys on the GPU.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>

#include "attn/tensor/tensor.hpp"

namespace attn::gpu {

/// in = {output of a, log-sum-exp of a, output of b, log-sum-exp of b}, packed f32 or f64: the
/// output and the log-sum-exp of both.
void merge(const std::array<Tensor, 4>& in, const Tensor& out, const Tensor& log_sum_exp);
/// down = the gradients of in.
void merge_backward(const std::array<Tensor, 4>& in, const Tensor& d_out,
                    const Tensor& d_log_sum_exp, const std::array<Tensor, 4>& down);

}  // namespace attn::gpu
