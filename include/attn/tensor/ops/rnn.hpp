/// GRU and LSTM layers: cells are fused, the loop over time makes no ops. Past a row's length
/// the state stays as it is and the output row is 0; the backward direction starts at the last
/// valid item.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "attn/tensor/tensor.hpp"

namespace attn {

/// The weights of one direction of one layer, in torch's layout and gate order (GRU: reset,
/// update, new; LSTM: input, forget, cell, output).
struct RecurrentWeights {
  Tensor weight_ih = {};  ///< [gates * hidden, in]
  Tensor weight_hh = {};  ///< [gates * hidden, hidden]
  Tensor bias_ih = {};    ///< [gates * hidden], or none
  Tensor bias_hh = {};
};

enum class Direction { forward, both };

/// out [batch, steps, hidden * directions]; states are [layers * directions, batch, hidden],
/// directions of one layer side by side, as in torch.
struct GruResult {
  Tensor out;
  Tensor state;
};
///     r = sigmoid(W_ir x + b_ir + W_hr h + b_hr),   z = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
///     n = tanh(W_in x + b_in + r (W_hn h + b_hn)),  h' = (1 - z) n + z h
///
/// x [batch, steps, in]. `weights` holds layer 0 forward, layer 0 reverse, layer 1 forward, ...
/// `lengths` i64 [batch] and `state` may be left out. What lies past a length is not read.
/// Cho et al., 2014, arXiv:1406.1078, with torch's reset gate behind the product.
GruResult gru(const Tensor& x, const std::vector<RecurrentWeights>& weights,
              Direction direction = Direction::forward, const Tensor& state = {},
              const Tensor& lengths = {});

struct LstmResult {
  Tensor out;
  Tensor state;
  Tensor cell;
};
///     i, f, o = sigmoid(W_i x + b_i + W_h h + b_h), each with its own,   g = tanh(the same)
///     c' = f c + i g,   h' = o tanh(c')
///
/// As gru(). Hochreiter and Schmidhuber, 1997.
LstmResult lstm(const Tensor& x, const std::vector<RecurrentWeights>& weights,
                Direction direction = Direction::forward, const Tensor& state = {},
                const Tensor& cell = {}, const Tensor& lengths = {});

/// One step of a GRU cell: x [batch, in], state [batch, hidden] -> [batch, hidden].
Tensor gru_cell(const Tensor& x, const Tensor& state, const RecurrentWeights& weights);

struct LstmStep {
  Tensor state;
  Tensor cell;
};
LstmStep lstm_cell(const Tensor& x, const Tensor& state, const Tensor& cell,
                   const RecurrentWeights& weights);

}  // namespace attn
