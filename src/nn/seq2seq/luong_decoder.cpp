#include "attn/nn/seq2seq/luong_decoder.hpp"

#include <cstdint>

#include "attn/nn/embedding.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/nn/seq2seq/decoder_step.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

std::int64_t concat_rows(const LuongDecoderOptions& options) {
  return options.concat_dim > 0 ? options.concat_dim : options.hidden;
}

Tensor first_w_a(const LuongDecoderOptions& options) {
  const std::int64_t hidden = options.hidden;
  switch (options.score) {
    case LuongScore::general:
      return fan_in_uniform({hidden, hidden}, hidden);
    case LuongScore::concat:
      return fan_in_uniform({concat_rows(options), 2 * hidden}, 2 * hidden);
    default:
      return {};
  }
}

std::int64_t lstm_input(const LuongDecoderOptions& options) {
  return options.embedding + (options.feeding == InputFeeding::on ? options.attentional : 0);
}

}  // namespace

LuongDecoder::LuongDecoder(const LuongDecoderOptions& options)
    : score_(options.score),
      feeding_(options.feeding),
      embedding_(add("embedding",
                     Embedding({.rows = options.vocabulary, .features = options.embedding}))),
      rnn_(add("rnn", Lstm({.in = lstm_input(options),
                            .hidden = options.hidden,
                            .layers = options.layers}))),
      w_c_(add(
          "W_c",
          Linear({.in = 2 * options.hidden, .out = options.attentional, .bias = Bias::none}))),
      w_s_(add(
          "W_s",
          Linear({.in = options.attentional, .out = options.vocabulary, .bias = Bias::none}))),
      w_a_(add("W_a.weight", first_w_a(options))),
      v_a_(add("v_a", options.score == LuongScore::concat
                          ? fan_in_uniform({concat_rows(options)}, concat_rows(options))
                          : Tensor())) {}

Tensor LuongDecoder::query_weight() const {
  return score_ == LuongScore::concat ? w_a_.slice(1, 0, w_a_.size(1) / 2) : Tensor();
}

DecoderSource LuongDecoder::read(const Tensor& enc, const Tensor& lengths) const {
  const Tensor values = padding::zero_past(enc, lengths);
  switch (score_) {
    case LuongScore::general:
      return {linear(values, w_a_), values, lengths};
    case LuongScore::concat:
      return {linear(values, w_a_.slice(1, w_a_.size(1) / 2, w_a_.size(1))), values, lengths};
    default:
      return {values, values, lengths};
  }
}

LuongWeights LuongDecoder::weights(InputFeeding feeding) const {
  return {.query = query_weight(),
          .score = v_a_,
          .rnn = rnn_.weights(),
          .join = w_c_.weight(),
          .feeding = feeding};
}

LuongResult LuongDecoder::run_without_feeding(const Tensor& y, const DecoderSource& source,
                                              const Tensor& h, const Tensor& c) const {
  const LstmResult run = rnn_(y, h, c);
  const bool additive = score_ == LuongScore::concat;
  const Attended looked =
      attend(additive ? linear(run.out, query_weight()) : run.out, source.keys, source.values,
             additive ? spec::additive(v_a_) : spec::dot(), padding::keys(source.lengths),
             spec::softmax(), Want::output | Want::weights);
  return {tanh(w_c_(concat({looked.output, run.out}, 2))), looked.weights, run.state, run.cell};
}

LuongDecoded LuongDecoder::forward(const Tensor& enc, const Tensor& h, const Tensor& c,
                                   const Tensor& tokens, const Tensor& lengths) const {
  const DecoderSource source = read(enc, lengths);
  const Tensor y = embedding_(tokens);
  const LuongResult run = feeding_ == InputFeeding::on
                              ? luong_decode(y, source, h, c, weights(InputFeeding::on))
                              : run_without_feeding(y, source, h, c);
  return {run.attentional, w_s_(run.attentional), run.weights, run.state, run.cell};
}

DecoderState LuongDecoder::start(const Tensor& h, const Tensor& c) const {
  return {h, c, Tensor::zeros({h.size(1), w_c_.weight().size(0)}, h.dtype(), h.device())};
}

DecoderStep LuongDecoder::step(const Tensor& tokens, const DecoderSource& source,
                               const DecoderState& state) const {
  // The op begins with a = 0; here a is joined to the embedding before it.
  Tensor y = embedding_(tokens);
  if (feeding_ == InputFeeding::on) y = concat({y, state.attentional}, 1);
  const LuongResult one = luong_decode(y.unsqueeze(1), source, state.hidden, state.cell,
                                       weights(InputFeeding::off));
  const Tensor attentional = one.attentional.squeeze(1);
  return {w_s_(attentional), one.weights.squeeze(1), {one.state, one.cell, attentional}};
}

}  // namespace attn::nn
