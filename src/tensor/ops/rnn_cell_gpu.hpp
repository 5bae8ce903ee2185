/// One step of a recurrent layer on the GPU as an op, for decoders whose steps hang on each
/// other through more than the state.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/ops/rnn_layer.hpp"

namespace attn::op {

/// [batch, hidden] each; a GRU has no cell.
struct CellState {
  Tensor state;
  Tensor cell;
};

/// kept_bias() on the tape, made once for all steps.
Tensor taped_bias(CellKind kind, const RecurrentWeights& weights);

/// `a` [batch, gates * hidden] is the product of the input, without a bias.
CellState cell_step(CellKind kind, const Tensor& a, const CellState& before,
                    const Tensor& weight_hh, const Tensor& bias);

}  // namespace attn::op
