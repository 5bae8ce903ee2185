/// Coupled multi-layer attentions: aspect and opinion terms find each other. Wang, Pan,
/// Dahlmeier and Xiao, 2017 (AAAI).

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstdint>

#include "attn/nn/linear.hpp"

namespace attn::nn {

/// The authors' GRU: the reset gate acts before the product, z weighs the new value, no bias.
/// z = sigmoid(W_z x + U_z r), g = sigmoid(W_r x + U_r r), n = tanh(W_h x + U_h (g r)),
/// r = (1 - z) r + z n, from r = 0.
class CmlaGru : public Module {
 public:
  explicit CmlaGru(std::int64_t dim);

  /// x [batch, steps, dim] -> all states. Past the length i64 [batch] the state stays.
  Tensor forward(const Tensor& x, const Tensor& lengths = {}) const;

 private:
  Linear w_z_, w_r_, w_h_;
  Linear u_z_, u_r_, u_h_;
};

struct CmlaOptions {
  std::int64_t dim;
  std::int64_t slices;  ///< K
  std::int64_t classes;
  std::int64_t layers = 2;
};

/// Of one stream.
struct CmlaStream {
  Tensor weights;    ///< [batch, layers, tokens]
  Tensor prototype;  ///< [batch, dim], after the last layer
  Tensor logits;     ///< [batch, tokens, classes], 0 past the length
};
struct CmlaResult {
  CmlaStream aspect;
  CmlaStream opinion;
};

/// One layer, stream m beside the other stream o: beta_i = tanh([h_i^T G_m[k] u_m]_k;
/// [h_i^T D_m[k] u_o]_k), r = GRU(beta), a = softmax(v_m . r_i), u_m = tanh(Q_m u_m) +
/// sum of a_i h_i. Both read the old prototypes. Layers share all parameters, and logits_m =
/// C_m (sum over layers of r_i) + b.
class Cmla : public Module {
 public:
  explicit Cmla(const CmlaOptions& options);

  /// states [batch, tokens, dim], lengths i64 [batch] or none.
  CmlaResult forward(const Tensor& states, const Tensor& lengths = {}) const;

 private:
  struct Stream {
    Tensor u, v, g, d;
    Linear q, c;
    CmlaGru gru;
  };
  Stream add_stream(char name);
  struct Turn;
  Turn turn(const Stream& stream, const Tensor& states, const Tensor& own, const Tensor& other,
            const Tensor& lengths) const;

  CmlaOptions options_;
  std::array<Stream, 2> streams_;  ///< "a" and "p"
};

}  // namespace attn::nn
