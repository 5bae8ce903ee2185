// SPDX-License-Identifier: Apache-2.0

#include "tasks/las/listener.hpp"

#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/applied/las_attention.hpp"
#include "attn/nn/mechanisms/applied/las_listener_layer.hpp"
#include "attn/nn/mechanisms/applied/location_aware.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/las/features.hpp"

namespace attn::tasks::las {
namespace {

Tensor repeat_rows(const Tensor& x, std::int64_t rows) {
  if (!x.defined()) return x;
  Shape shape = x.shape();
  shape[0] = rows;
  return x.expand(shape);
}

}  // namespace

Listener::Listener(std::int64_t hidden, double dropout)
    : lower_(add("lower", nn::ListenerLayer({.in = kBands, .hidden = hidden}))),
      upper_(add("upper", nn::ListenerLayer({.in = 2 * hidden, .hidden = hidden}))),
      top_(add("top",
               nn::Lstm({.in = 2 * hidden, .hidden = hidden, .direction = Direction::both}))),
      dropout_(add("dropout", nn::Dropout(dropout))) {}

nn::Listened Listener::operator()(const Tensor& frames, const Tensor& lengths) const {
  const nn::Listened half = lower_.forward(frames, lengths);
  const nn::Listened quarter = upper_.forward(dropout_(half.output), half.lengths);
  const Tensor top = top_(dropout_(quarter.output), {}, {}, quarter.lengths).out;
  return {dropout_(top), quarter.lengths};
}

Speller::Speller(const SpellerOptions& options)
    : guided_(options.location != "none"),
      tokens_(add("tokens",
                  nn::Embedding({.rows = options.vocabulary, .features = options.embedding}))),
      rnn_(add("rnn",
               nn::Lstm({.in = options.embedding + options.heard, .hidden = options.hidden}))),
      mix_(add("mix",
               nn::Linear({.in = options.hidden + options.heard, .out = options.hidden}))),
      out_(add("out", nn::Linear({.in = options.hidden, .out = options.vocabulary}))),
      dropout_(add("dropout", nn::Dropout(options.dropout))) {
  if (options.attention == "dot")
    dot_ = add("attention", nn::LasAttention({.encoder_dim = options.heard,
                                              .query_dim = options.hidden,
                                              .hidden = options.score}));
  else
    additive_ = add("attention", nn::LocationAwareAttention({.encoder_dim = options.heard,
                                                             .query_dim = options.hidden,
                                                             .hidden = options.score,
                                                             .channels = options.channels,
                                                             .width = options.width}));
}

Speller::Memory Speller::Memory::repeated(std::int64_t rows) const {
  Memory result;
  result.additive = {repeat_rows(additive.values, rows), repeat_rows(additive.keys, rows),
                     repeat_rows(additive.lengths, rows), repeat_rows(additive.weights, rows)};
  result.heard = repeat_rows(heard, rows);
  result.lengths = repeat_rows(lengths, rows);
  return result;
}

Speller::State Speller::State::selected(const Tensor& rows) const {
  return {index_select(hidden, 0, rows), index_select(cell, 0, rows),
          index_select(context, 0, rows), index_select(weights, 0, rows),
          index_select(guide, 0, rows)};
}

Speller::Memory Speller::memory(const Tensor& heard, const Tensor& lengths) const {
  Memory result;
  result.heard = heard;
  result.lengths = lengths;
  if (additive_) result.additive = additive_->memory(heard, lengths);
  return result;
}

Speller::State Speller::begin(const Memory& memory) const {
  const Tensor& heard = memory.heard;
  const auto zeros = [&](std::int64_t columns) {
    return Tensor::zeros({heard.size(0), columns}, heard.dtype(), heard.device());
  };
  const std::int64_t hidden = rnn_.weights().front().weight_hh.size(1);
  const Tensor nowhere = zeros(heard.size(1));
  return {zeros(hidden), zeros(hidden), zeros(heard.size(2)), nowhere,
          guided_ && additive_ ? memory.additive.weights : nowhere};
}

Attended Speller::look(const Memory& memory, const Tensor& query, const Tensor& guide) const {
  if (additive_) return additive_->step(memory.additive, query, guide);
  if (!dot_) fail("attn::tasks::las::Speller: there is no attention");
  Attended looked = dot_->forward(memory.heard, query.unsqueeze(1), memory.lengths,
                                  Want::output | Want::weights);
  looked.output = looked.output.squeeze(1);
  looked.weights = looked.weights.squeeze(1);
  return looked;
}

Speller::State Speller::next(const Memory& memory, const State& before,
                             const Tensor& embedded) const {
  const LstmStep step = lstm_cell(concat({embedded, before.context}, 1), before.hidden,
                                  before.cell, rnn_.weights().front());
  const Attended looked = look(memory, step.state, before.guide);
  return {step.state, step.cell, looked.output, looked.weights,
          guided_ ? looked.weights : before.guide};
}

Speller::State Speller::step(const Memory& memory, const State& before,
                             const Tensor& tokens) const {
  return next(memory, before, dropout_(tokens_(tokens)));
}

Tensor Speller::logits_of(const Tensor& hidden, const Tensor& context) const {
  return out_(dropout_(tanh(mix_(dropout_(concat({hidden, context}, -1))))));
}

Tensor Speller::logits(const State& state) const {
  return logits_of(state.hidden, state.context);
}

Tensor Speller::read(const Memory& memory, const Tensor& tokens) const {
  const Tensor embedded = dropout_(tokens_(tokens));
  State state = begin(memory);
  std::vector<Tensor> hidden;
  std::vector<Tensor> context;
  for (std::int64_t t = 0; t < tokens.size(1); ++t) {
    state = next(memory, state, embedded.select(1, t));
    hidden.push_back(state.hidden);
    context.push_back(state.context);
  }
  return logits_of(stack(hidden, 1), stack(context, 1));
}

}  // namespace attn::tasks::las
