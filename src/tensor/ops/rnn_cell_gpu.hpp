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

/// d_state [batch, hidden] += d_u weight_hh: what comes through the gates, onto what passed
/// them by. d_u [batch, gates * hidden] lies on the GPU.
template <class T>
void add_through_gates(const T* d_u, const Tensor& weight_hh, const Tensor& d_state);

/// kept_bias() on the tape, made once for all steps.
Tensor taped_bias(CellKind kind, const RecurrentWeights& weights);

/// `a` [batch, gates * hidden] is the product of the input, without a bias.
CellState cell_step(CellKind kind, const Tensor& a, const CellState& before,
                    const Tensor& weight_hh, const Tensor& bias);

}  // namespace attn::op
