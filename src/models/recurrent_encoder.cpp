#include "models/recurrent_encoder.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "attn/core/error.hpp"
#include "attn/models/options.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"

namespace attn::models {
namespace {

nn::RecurrentOptions one_layer(const ModelOptions& options) {
  if (options.dim % 2 != 0)
    fail("attn::models: dim ", options.dim,
         " for an encoder of two directions; an even one is accepted");
  return {.in = options.dim, .hidden = options.dim / 2, .direction = Direction::both};
}

/// [2, batch, dim / 2] -> [batch, dim].
Tensor both_directions(const Tensor& state) {
  return concat({state.select(0, 0), state.select(0, 1)}, 1);
}

/// [batch, layers * dim] -> [layers, batch, dim].
Tensor by_layer(const Tensor& x, std::int64_t dim) {
  return x.reshape({x.size(0), -1, dim}).transpose(0, 1).contiguous();
}

}  // namespace

RecurrentEncoder::RecurrentEncoder(Cell cell, const ModelOptions& options)
    : dropout_(add("dropout", nn::Dropout(options.dropout))),
      first_state_(
          add("first_state",
              nn::Linear({.in = options.dim, .out = options.decoder_layers * options.dim}))) {
  for (std::int64_t layer = 0; layer < options.encoder_layers; ++layer) {
    const std::string name = "layers." + std::to_string(layer);
    if (cell == Cell::gru) gru_.push_back(add(name, nn::Gru(one_layer(options))));
    if (cell == Cell::lstm) lstm_.push_back(add(name, nn::Lstm(one_layer(options))));
  }
  if (cell == Cell::lstm)
    first_cell_ =
        add("first_cell",
            nn::Linear({.in = options.dim, .out = options.decoder_layers * options.dim}));
}

Encoded RecurrentEncoder::operator()(const Tensor& x, const Tensor& lengths) const {
  LstmResult read{.out = x, .state = {}, .cell = {}};
  for (std::size_t layer = 0; layer < gru_.size() + lstm_.size(); ++layer) {
    const Tensor in = layer == 0 ? x : dropout_(read.out);
    if (lstm_.empty()) {
      const GruResult gru = gru_[layer](in, {}, lengths);
      read = {gru.out, gru.state, {}};
    } else {
      read = lstm_[layer](in, {}, {}, lengths);
    }
  }
  const std::int64_t dim = x.size(2);
  const Tensor summary = both_directions(read.state);
  return {read.out, summary, by_layer(tanh(first_state_(summary)), dim),
          first_cell_ ? by_layer((*first_cell_)(both_directions(read.cell)), dim) : Tensor()};
}

}  // namespace attn::models
