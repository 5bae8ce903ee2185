/// Recurrent decoders that attend at each step, under teacher forcing: the whole loop over time
/// is one op with a gradient of its own. Each step scores the source once for each row; what
/// does not depend on the step (the products of the keys and of the embedded tokens) is
/// computed once.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn {

/// What a decoder attends to. Nothing past a row's length is read, and gets gradient 0; a row
/// of length 0 has weights 0 and context 0, and decoding continues.
struct DecoderSource {
  Tensor keys = {};     ///< [batch, source, key_dim], projected
  Tensor values = {};   ///< [batch, source, value_dim]
  Tensor lengths = {};  ///< i64 [batch], or none
};

/// How the input of the lowest layer is joined: [c_t; y_t] or [y_t; c_t].
enum class InputOrder { context_first, embedding_first };

struct BahdanauWeights {
  Tensor query = {};                       ///< W_q [key_dim, hidden]
  Tensor score = {};                       ///< w [key_dim]
  std::vector<RecurrentWeights> rnn = {};  ///< GRU; the first takes value_dim + embedding
  InputOrder order = InputOrder::context_first;
};

struct BahdanauResult {
  Tensor states = {};    ///< [batch, steps, hidden], of the top layer
  Tensor weights = {};   ///< [batch, steps, source]
  Tensor contexts = {};  ///< [batch, steps, value_dim]
  Tensor state = {};     ///< [layers, batch, hidden], after the last step
};

/// The query is the top state before the step: for t = 0, 1, ...
///
///     e_tj = w . tanh(W_q s_(t-1) + k_j),   a_t = softmax(e_t),   c_t = sum of a_tj v_j
///     s_t  = GRU([c_t; y_t], s_(t-1))
///
/// y [batch, steps, embedding], state [layers, batch, hidden]. Differentiable in everything,
/// also where gradients arrive at the weights and contexts. The keys are U h_j, computed by the
/// caller; what lies past a length must be finite there, or the caller's own gradient of U
/// becomes NaN. Bahdanau, Cho and Bengio, 2015, arXiv:1409.0473.
BahdanauResult bahdanau_decode(const Tensor& y, const DecoderSource& source,
                               const Tensor& state, const BahdanauWeights& weights);

/// Whether the attentional state joins the next step's input: [y_t; a_(t-1)].
enum class InputFeeding { off, on };

struct LuongWeights {
  Tensor query = {};                       ///< W_q [key_dim, hidden]; none: q = h_t
  Tensor score = {};                       ///< w [key_dim]; none: dot products
  std::vector<RecurrentWeights> rnn = {};  ///< LSTM; the first takes embedding (+ attentional)
  Tensor join = {};                        ///< W_c [attentional, value_dim + hidden]
  InputFeeding feeding = InputFeeding::on;
};

struct LuongResult {
  Tensor attentional = {};  ///< [batch, steps, attentional]
  Tensor weights = {};      ///< [batch, steps, source]
  Tensor state = {};        ///< [layers, batch, hidden], after the last step
  Tensor cell = {};
};

/// The query is the top state of the step itself: for t = 0, 1, ...
///
///     h_t  = LSTM([y_t; a_(t-1)], h_(t-1)),   q_t = h_t or W_q h_t
///     e_tj = q_t . k_j  or  w . tanh(q_t + k_j),   w_t = softmax(e_t),   c_t = sum of w_tj v_j
///     a_t  = tanh(W_c [c_t; h_t])
///
/// Luong's scores: dot has keys h_j; general has keys W_a h_j; concat has keys W_k h_j, the
/// query W_q and the score w, where W_a = [W_q W_k]. y [batch, steps, embedding], state and
/// cell [layers, batch, hidden]. `fed` [batch, attentional] is a_(-1), for decoding that goes
/// on where an earlier call ended; none: 0. Differentiable in everything. Luong, Pham and
/// Manning, 2015, arXiv:1508.04025.
LuongResult luong_decode(const Tensor& y, const DecoderSource& source, const Tensor& state,
                         const Tensor& cell, const LuongWeights& weights,
                         const Tensor& fed = {});

}  // namespace attn
