#include "tensor/ops/attention_decoder_gpu.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/ops/additive_scores.hpp"
#include "tensor/ops/attention_decoder_attention.hpp"
#include "tensor/ops/attention_decoder_common.hpp"
#include "tensor/ops/rnn_cell_gpu.hpp"
#include "tensor/ops/rnn_layer.hpp"

namespace attn::op {
namespace {

/// x [steps, ...] step by step, as one op: a slice each would write all steps for its gradient.
std::vector<Tensor> unstacked(const Tensor& x) {
  std::vector<Tensor> views;
  {
    const NoGrad off_the_tape;
    for (std::int64_t step = 0; step < x.size(0); ++step) views.push_back(x.select(0, step));
  }
  record("unstacked", std::span(&x, 1), views,
         [shape = x.shape()](const Gradients& grads, const Needs&) -> Gradients {
           Tensor down;
           for (std::size_t step = 0; step < grads.size(); ++step) {
             if (!grads[step].defined()) continue;
             if (!down.defined())
               down = Tensor::zeros(shape, grads[step].dtype(), grads[step].device());
             down.select(0, static_cast<std::int64_t>(step)).copy_from(grads[step]);
           }
           return {down};
         });
  return views;
}

/// What is the same at each step of attention.
struct Source {
  AttentionInputs in;
  Tensor keep;  ///< [batch, 1, source], or none

  explicit Source(const AttentionInputs& inputs) : in(inputs) {
    if (in.lengths.defined())
      keep = length_mask(in.lengths.to(in.keys.device()), in.keys.size(1)).unsqueeze(1);
  }

  struct Looked {
    Tensor weights;  ///< [batch, 1, source]
    Tensor context;  ///< [batch, value_dim]
  };
  /// By a state [batch, hidden].
  Looked look(const Tensor& state) const {
    const Tensor asked = in.query.defined() ? linear(state, in.query) : state;
    const Tensor query = asked.unsqueeze(1);
    const Tensor scores = in.score.defined()
                              ? additive_scores(query.unsqueeze(1), in.keys.unsqueeze(1),
                                                in.score.reshape({1, 1, 1, in.score.size(0)}))
                                    .squeeze(1)
                              : matmul(query, in.keys.transpose(1, 2));
    const Tensor weights = softmax(scores, -1, keep);
    return {weights, matmul(weights, in.values).squeeze(1)};
  }
};

/// The layers of a decoder, one above the other.
class Layers {
 public:
  Layers(CellKind kind, const DecoderInputs& inputs) : kind_(kind), rnn_(inputs.rnn) {
    for (std::size_t i = 0; i < rnn_.size(); ++i) {
      const auto layer = static_cast<std::int64_t>(i);
      biases_.push_back(taped_bias(kind, rnn_[i]));
      now_.push_back({inputs.state.select(0, layer),
                      inputs.cell.defined() ? inputs.cell.select(0, layer) : Tensor()});
    }
  }

  const Tensor& top() const { return now_.back().state; }
  /// `a` is the product of the lowest layer's input.
  void step(const Tensor& a) {
    Tensor product = a;
    for (std::size_t i = 0; i < rnn_.size(); ++i) {
      if (i > 0) product = linear(now_[i - 1].state, rnn_[i].weight_ih);
      now_[i] = cell_step(kind_, product, now_[i], rnn_[i].weight_hh, biases_[i]);
    }
  }

  Tensor states() const { return stacked(&CellState::state); }
  Tensor cells() const { return stacked(&CellState::cell); }

 private:
  Tensor stacked(Tensor CellState::* part) const {
    std::vector<Tensor> all;
    all.reserve(now_.size());
    for (const CellState& layer : now_) all.push_back(layer.*part);
    return stack(all, 0);
  }

  CellKind kind_;
  std::vector<RecurrentWeights> rnn_;
  std::vector<Tensor> biases_;
  std::vector<CellState> now_;
};

/// The columns of the lowest layer's weight for the embedding, and for what else it reads.
struct Split {
  Tensor embedding;
  Tensor other;
};
Split split(const Tensor& weight, std::int64_t embedding, InputOrder order) {
  const std::int64_t other = weight.size(1) - embedding;
  const bool first = order == InputOrder::embedding_first;
  const std::int64_t at = first ? 0 : other;
  return {weight.slice(1, at, at + embedding),
          first ? weight.slice(1, embedding, embedding + other) : weight.slice(1, 0, other)};
}

}  // namespace

BahdanauResult bahdanau_on_gpu(const DecoderInputs& inputs, InputOrder order) {
  const Source source(inputs.attention);
  const Split weight = split(inputs.rnn[0].weight_ih, inputs.embedding(), order);
  const std::vector<Tensor> products = unstacked(linear(inputs.y, weight.embedding));
  Layers layers(CellKind::gru, inputs);
  std::vector<Tensor> states;
  std::vector<Tensor> weights;
  std::vector<Tensor> contexts;
  for (const Tensor& product : products) {
    const Source::Looked seen = source.look(layers.top());
    layers.step(product + linear(seen.context, weight.other));
    states.push_back(layers.top());
    weights.push_back(seen.weights);
    contexts.push_back(seen.context);
  }
  if (products.empty()) {
    const auto none = [&](std::int64_t columns) {
      return Tensor::empty({inputs.batch(), 0, columns}, inputs.y.dtype(), Device::gpu);
    };
    return {none(inputs.hidden()), none(inputs.attention.keys.size(1)),
            none(inputs.attention.values.size(2)), layers.states()};
  }
  return {stack(states, 1), concat(weights, 1), stack(contexts, 1), layers.states()};
}

LuongResult luong_on_gpu(const DecoderInputs& inputs, InputFeeding feeding) {
  const Source source(inputs.attention);
  const bool feeds = feeding == InputFeeding::on;
  const Split weight =
      split(inputs.rnn[0].weight_ih, inputs.embedding(), InputOrder::embedding_first);
  const std::vector<Tensor> products = unstacked(linear(inputs.y, weight.embedding));
  Layers layers(CellKind::lstm, inputs);
  std::vector<Tensor> outs;
  std::vector<Tensor> weights;
  Tensor fed = inputs.fed;
  for (const Tensor& product : products) {
    layers.step(feeds && fed.defined() ? product + linear(fed, weight.other) : product);
    const Source::Looked seen = source.look(layers.top());
    fed = tanh(linear(concat({seen.context, layers.top()}, 1), inputs.join));
    outs.push_back(fed);
    weights.push_back(seen.weights);
  }
  if (products.empty()) {
    const auto none = [&](std::int64_t columns) {
      return Tensor::empty({inputs.batch(), 0, columns}, inputs.y.dtype(), Device::gpu);
    };
    return {none(inputs.join.size(0)), none(inputs.attention.keys.size(1)), layers.states(),
            layers.cells()};
  }
  return {stack(outs, 1), concat(weights, 1), layers.states(), layers.cells()};
}

}  // namespace attn::op
