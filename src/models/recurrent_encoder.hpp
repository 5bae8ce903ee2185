/// The encoder of all recurrent models: layers that read in both directions, so that what
/// differs between the models is how the decoder looks.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <vector>

#include "attn/models/options.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent.hpp"

namespace attn::models {

enum class Cell { gru, lstm };

struct Encoded {
  Tensor out;      ///< [batch, source, dim], 0 past the lengths
  Tensor summary;  ///< [batch, dim]: the last states of the top layer, 0 for an empty source
  Tensor state;    ///< [decoder layers, batch, dim]: what the decoder begins with
  Tensor cell;     ///< the same, of an LSTM
};

/// Both directions have dim / 2. The decoder begins with tanh(W summary + b), whatever the
/// numbers of layers are; its cells with W' cells + b'.
class RecurrentEncoder : public nn::Module {
 public:
  RecurrentEncoder(Cell cell, const ModelOptions& options);

  /// x [batch, source, dim], lengths i64 [batch].
  Encoded operator()(const Tensor& x, const Tensor& lengths) const;

 private:
  nn::Dropout dropout_;  ///< between layers
  std::vector<nn::Gru> gru_;
  std::vector<nn::Lstm> lstm_;
  nn::Linear first_state_;
  std::optional<nn::Linear> first_cell_;
};

}  // namespace attn::models
