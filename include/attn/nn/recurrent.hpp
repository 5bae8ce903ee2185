/// GRU and LSTM as modules, with torch's parameter names: weight_ih_l0, weight_hh_l0,
/// bias_ih_l0, bias_hh_l0, then l1 ..., and _reverse for the backward direction.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"       // IWYU pragma: export
#include "attn/tensor/ops/rnn.hpp"  // IWYU pragma: export
#include "attn/tensor/tensor.hpp"   // IWYU pragma: export

namespace attn::nn {

struct RecurrentOptions {
  std::int64_t in;
  std::int64_t hidden;
  std::int64_t layers = 1;
  Direction direction = Direction::forward;
  Bias bias = Bias::learnt;
};

class Gru : public Module {
 public:
  explicit Gru(const RecurrentOptions& options);

  /// x [batch, steps, in]; state [layers * directions, batch, hidden] and lengths i64 [batch]
  /// may be left out.
  GruResult operator()(const Tensor& x, const Tensor& state = {},
                       const Tensor& lengths = {}) const;

  const std::vector<RecurrentWeights>& weights() const { return weights_; }

 private:
  Direction direction_;
  std::vector<RecurrentWeights> weights_;
};

class Lstm : public Module {
 public:
  explicit Lstm(const RecurrentOptions& options);

  LstmResult operator()(const Tensor& x, const Tensor& state = {}, const Tensor& cell = {},
                        const Tensor& lengths = {}) const;

  const std::vector<RecurrentWeights>& weights() const { return weights_; }

 private:
  Direction direction_;
  std::vector<RecurrentWeights> weights_;
};

}  // namespace attn::nn
