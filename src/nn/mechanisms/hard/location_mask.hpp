/// Which locations a step may look at, as flags that ops take.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"

namespace attn::nn::hard {

/// Boolean [batch, steps, locations]: the location is one of the first `lengths`, the step one
/// of the first `target_lens` (either may be left out), and the score is not -inf.
Tensor locations_kept(const Tensor& scores, const Tensor& lengths, const Tensor& target_lens);

/// Scores with -inf where nothing is kept, so that log_softmax is that of the kept ones; rows
/// that keep nothing hold zeros instead.
Tensor only_kept(const Tensor& scores, const Tensor& keep);

}  // namespace attn::nn::hard
