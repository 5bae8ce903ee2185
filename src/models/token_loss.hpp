/// The loss of a batch of tokens, and which of them count.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/models/seq2seq.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models {

/// InvalidArgument, beginning with `where`, unless the shapes of the batch fit together.
void check_batch(const Batch& batch, const char* where);

/// Boolean [batch, steps]: the targets that are not kPad.
Tensor counted_targets(const Tensor& target);

/// The mean of x where `counted` holds, 0 if it holds nowhere.
Tensor counted_mean(const Tensor& x, const Tensor& counted);

/// x in f32 at least: probabilities and their logarithms take more than 16 bits.
Tensor wide(const Tensor& x);

/// x [batch, steps], each row times its weight; x where there are none.
Tensor weighted(const Tensor& x, const Tensor& weights);

/// The mean cross-entropy of the counted targets, logits [batch, steps, vocabulary]; `weights`
/// are those of a Batch.
Tensor token_loss(const Tensor& logits, const Tensor& target, const LossOptions& options,
                  const Tensor& weights = {});

}  // namespace attn::models
