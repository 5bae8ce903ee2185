#include "attn/nn/recurrent/luong_loop.hpp"

#include <cstdint>
#include <vector>

#include "attn/nn/attention/luong_attention.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"

namespace attn::nn {
namespace {

std::int64_t lstm_input(const LuongLoopOptions& options) {
  return options.embedding + (options.feeding == InputFeeding::on ? options.attentional : 0);
}

}  // namespace

LuongLoop::LuongLoop(const LuongLoopOptions& options)
    : feeding_(options.feeding),
      attention_(options.attention_name
                     ? add(options.attention_name, LuongAttention(options.attention))
                     : add_unnamed(LuongAttention(options.attention))),
      rnn_(add(options.rnn_name, Lstm({.in = lstm_input(options),
                                       .hidden = options.hidden,
                                       .layers = options.layers}))),
      join_(add("W_c", without_bias(options.attention.key_dim + options.hidden,
                                    options.attentional))) {}

DecoderState LuongLoop::start(const Tensor& hidden, const Tensor& cell) const {
  if (feeding_ == InputFeeding::off) return {hidden, cell, {}};
  return {
      hidden, cell,
      Tensor::zeros({hidden.size(1), join_.weight().size(0)}, hidden.dtype(), hidden.device())};
}

Tensor LuongLoop::input(const Tensor& y, const DecoderState& state) const {
  return feeding_ == InputFeeding::off ? y : concat({y, state.attentional.unsqueeze(1)}, 2);
}

Tensor LuongLoop::query(const Tensor& y, const DecoderState& state) const {
  return rnn_(input(y, state), state.hidden, state.cell).out;
}

LuongLoop::Result LuongLoop::run(const Tensor& y, const DecoderSource& source,
                                 DecoderState& state, std::int64_t first,
                                 const ContextOf& context_of) const {
  if (feeding_ == InputFeeding::off) return run_at_once(y, source, state, first, context_of);
  if (attention_.fused() && !context_of) return run_fused(y, source, state);
  // The fused loop knows no windows, locations or contexts: some ten small ops a step here.
  std::vector<Tensor> attentional;
  std::vector<Tensor> weights;
  for (std::int64_t t = 0; t < y.size(1); ++t) {
    const Result one =
        run_at_once(input(y.slice(1, t, t + 1), state), source, state, first + t, context_of);
    state.attentional = one.attentional.squeeze(1);
    attentional.push_back(one.attentional);
    weights.push_back(one.weights);
  }
  return {concat(attentional, 1), concat(weights, 1)};
}

LuongLoop::Result LuongLoop::run_fused(const Tensor& y, const DecoderSource& source,
                                       DecoderState& state) const {
  const LuongResult read = luong_decode(y, source, state.hidden, state.cell,
                                        {.query = attention_.query_weight(),
                                         .score = attention_.score_weight(),
                                         .rnn = rnn_.weights(),
                                         .join = join_.weight()},
                                        state.attentional);
  state = {read.state, read.cell, read.attentional.select(1, y.size(1) - 1)};
  return {read.attentional, read.weights};
}

LuongLoop::Result LuongLoop::run_at_once(const Tensor& in, const DecoderSource& source,
                                         DecoderState& state, std::int64_t first,
                                         const ContextOf& context_of) const {
  const LstmResult read = rnn_(in, state.hidden, state.cell);
  AttentionContext context = context_of ? context_of(first, in.size(1)) : AttentionContext{};
  context.want = Want::output | Want::weights;
  const Attended result = attention_.forward(read.out, source, first, context);
  state.hidden = read.state;
  state.cell = read.cell;
  return {tanh(join_(concat({result.output, read.out}, 2))), result.weights};
}

}  // namespace attn::nn
