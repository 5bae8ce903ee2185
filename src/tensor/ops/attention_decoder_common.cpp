#include "tensor/ops/attention_decoder_common.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/attention_decoder_steps.hpp"
#include "tensor/ops/rnn_direction.hpp"
#include "tensor/ops/rnn_layer.hpp"

namespace attn::op {
namespace {

void check_source(const AttentionInputs& source, const DecoderInputs& inputs,
                  const char* where) {
  for (const Tensor& x : {source.keys, source.values}) {
    require_same_kind(inputs.y, x, where);
    if (x.rank() != 3 || x.size(0) != inputs.batch() || x.size(1) != source.keys.size(1))
      fail(where, ": keys ", source.keys.text(), " and values ", source.values.text(),
           " for a batch of ", inputs.batch(), "; [batch, source, features] are accepted");
  }
  check_lengths(source.lengths, inputs.batch(), source.keys.size(1), where);
}

void check_score(const AttentionInputs& source, std::int64_t hidden, const Tensor& like,
                 const char* where) {
  const std::int64_t key_dim = source.keys.size(2);
  if (source.query.defined()) {
    require_shape(source.query, {key_dim, hidden}, where, "the query weight");
    require_same_kind(like, source.query, where);
  } else if (key_dim != hidden) {
    fail(where, ": keys of ", key_dim, " features for states of ", hidden,
         "; without a query weight they must agree");
  }
  if (!source.score.defined()) return;
  require_shape(source.score, {key_dim}, where, "the score vector");
  require_same_kind(like, source.score, where);
}

}  // namespace

LayerShape DecoderInputs::layer(CellKind kind) const {
  return {kind, Way::forward, steps(), batch(), hidden()};
}

std::vector<Tensor> DecoderInputs::flat() const {
  std::vector<Tensor> all{
      y,   state, cell, fed, attention.keys, attention.values, attention.query, attention.score,
      join};
  for (const RecurrentWeights& w : rnn)
    all.insert(all.end(), {w.weight_ih, w.weight_hh, w.bias_ih, w.bias_hh});
  return all;
}

Tensor in_time(const Tensor& y, const char* where) {
  require_real(y, where, "y");
  if (y.rank() != 3)
    fail(where, ": y is ", y.text(), "; [batch, steps, embedding] is accepted");
  return y.transpose(0, 1);
}

void check_decoder(CellKind kind, const DecoderInputs& inputs, std::int64_t more,
                   const char* where) {
  if (inputs.rnn.empty()) fail(where, ": no recurrent weights; one set for each layer");
  std::int64_t in = inputs.embedding() + more;
  for (std::size_t layer = 0; layer < inputs.rnn.size(); ++layer) {
    const std::int64_t hidden = check_weights(kind, inputs.rnn[layer], in, inputs.y, where);
    if (layer > 0 && hidden != in)
      fail(where, ": layer ", layer, " has ", hidden, " hidden units, the one below ", in,
           "; all layers have the same number");
    in = hidden;
  }
  const Shape states{static_cast<std::int64_t>(inputs.rnn.size()), inputs.batch(),
                     inputs.hidden()};
  require_shape(inputs.state, states, where, "the state");
  require_same_kind(inputs.y, inputs.state, where);
  if (kind == CellKind::lstm) {
    require_shape(inputs.cell, states, where, "the cell");
    require_same_kind(inputs.y, inputs.cell, where);
  }
  check_source(inputs.attention, inputs, where);
  check_score(inputs.attention, inputs.hidden(), inputs.y, where);
}

DecoderInputs prepare(const DecoderInputs& inputs) {
  const DType dtype = sum_dtype(inputs.y);
  const auto one = [&](const Tensor& x) {
    return x.defined() ? x.to(dtype).contiguous() : Tensor();
  };
  const AttentionInputs& a = inputs.attention;
  DecoderInputs result{.y = one(inputs.y),
                       .state = one(inputs.state),
                       .cell = one(inputs.cell),
                       .fed = one(inputs.fed),
                       .attention = {.keys = one(a.keys),
                                     .values = one(a.values),
                                     .lengths = packed_or_none(a.lengths),
                                     .query = one(a.query),
                                     .score = one(a.score)},
                       .rnn = {},
                       .join = one(inputs.join)};
  for (const RecurrentWeights& weights : inputs.rnn)
    result.rnn.push_back(prepare(weights, dtype));
  return result;
}

SavedDecoder::SavedDecoder(const DecoderInputs& inputs) : lengths_(inputs.attention.lengths) {
  for (const Tensor& x : inputs.flat()) flat_.emplace_back(x);
}

DecoderInputs SavedDecoder::get() const {
  DecoderInputs inputs{.y = flat_[DecoderInput::y].get(),
                       .state = flat_[DecoderInput::state].get(),
                       .cell = flat_[DecoderInput::cell].get(),
                       .fed = flat_[DecoderInput::fed].get(),
                       .attention = {.keys = flat_[DecoderInput::keys].get(),
                                     .values = flat_[DecoderInput::values].get(),
                                     .lengths = lengths_.get(),
                                     .query = flat_[DecoderInput::query].get(),
                                     .score = flat_[DecoderInput::score].get()},
                       .rnn = {},
                       .join = flat_[DecoderInput::join].get()};
  for (std::size_t i = DecoderInput::rnn; i < flat_.size(); i += 4)
    inputs.rnn.push_back(
        {flat_[i].get(), flat_[i + 1].get(), flat_[i + 2].get(), flat_[i + 3].get()});
  return inputs;
}

}  // namespace attn::op
