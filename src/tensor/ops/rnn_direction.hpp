/// The ops that recurrent layers are made of: one direction of one layer, and the turn from
/// batch-major to time-major.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/ops/rnn_layer.hpp"

namespace attn::op {

/// [batch, steps, features] -> [steps, batch, features], zeros past a row's length whatever
/// lay there, in the gradient too. `lengths` may be undefined.
Tensor time_major(const Tensor& x, const Tensor& lengths);

struct DirectionResult {
  Tensor out;    ///< [steps, batch, hidden]
  Tensor state;  ///< [batch, hidden], after the last step
  Tensor cell;   ///< LSTM
};

/// What the gradient of a layer needs of its forward pass, on either device.
struct SavedLayer {
  LayerShape shape;
  LayerMemory memory;
  Saved x;
  Saved weight_ih;
  Saved weight_hh;
  Saved lengths;
};

/// x [steps, batch, in] in f32 or f64. The product of the input for all steps is one, and so is
/// each weight's gradient; the steps between make no ops.
DirectionResult run_direction(CellKind kind, Way way, const Tensor& x,
                              const RecurrentWeights& weights, const Tensor& state,
                              const Tensor& cell, const Tensor& lengths);

/// Its two halves for x on the GPU; lengths are there, too. The gradients are in this order.
Tensor direction_on_gpu(const LayerShape& shape, const Tensor& x,
                        const RecurrentWeights& weights, const LayerMemory& memory,
                        const Tensor& lengths);
Gradients direction_backward_on_gpu(const SavedLayer& saved, const Gradients& grads,
                                    const Needs& needs);
struct LayerInput {
  enum Place : std::size_t { x, weight_ih, weight_hh, bias_ih, bias_hh, state, cell, count };
};

/// Throws unless the weights are those of a layer with `in` inputs; returns `hidden`.
std::int64_t check_weights(CellKind kind, const RecurrentWeights& weights, std::int64_t in,
                           const Tensor& like, const char* where);
/// Throws unless lengths are undefined or i64 [batch] in [0, most].
void check_lengths(const Tensor& lengths, std::int64_t batch, std::int64_t most,
                   const char* where);

/// The same weights, packed and in `dtype`.
RecurrentWeights prepare(const RecurrentWeights& weights, DType dtype);

}  // namespace attn::op
