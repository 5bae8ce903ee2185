// What decoders hand on from step to step, and the greedy search that runs them.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/nn/recurrent/greedy.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

/// The rows that are still being written.
struct Rows {
  std::vector<std::int64_t> tokens;   ///< [batch, max_len]
  std::vector<std::int64_t> lengths;  ///< so far
  std::vector<bool> ended;

  bool all_ended() const {
    for (const bool one : ended)
      if (!one) return false;
    return true;
  }
  void write(std::size_t row, std::int64_t at, std::int64_t token,
             const GreedyOptions& options) {
    if (ended[row]) return;
    tokens[row * static_cast<std::size_t>(options.max_len) + static_cast<std::size_t>(at)] =
        token;
    ++lengths[row];
    ended[row] = token == options.eos;
  }
};

}  // namespace

Tensor select_rows(const Tensor& x, int axis, const Tensor& index) {
  return x.defined() ? index_select(x, axis, index.to(x.device())) : x;
}

DecoderState select_rows(const DecoderState& state, const Tensor& index) {
  return {select_rows(state.hidden, 1, index), select_rows(state.cell, 1, index),
          select_rows(state.attentional, 0, index)};
}

DecoderSource select_rows(const DecoderSource& source, const Tensor& index) {
  return {select_rows(source.keys, 0, index), select_rows(source.values, 0, index),
          select_rows(source.lengths, 0, index)};
}

GreedyDecoded greedy_decode(const StepFunction& step, DecoderState state,
                            const GreedyOptions& options) {
  if (options.max_len < 1)
    fail("attn::nn::greedy_decode: max_len is ", options.max_len, "; 1 and more are accepted");
  const NoGrad off_the_tape;
  const std::int64_t batch = state.hidden.size(1);
  const auto count = static_cast<std::size_t>(batch);
  Rows rows{
      std::vector<std::int64_t>(count * static_cast<std::size_t>(options.max_len), options.pad),
      std::vector<std::int64_t>(count, 0), std::vector<bool>(count, false)};
  std::vector<Tensor> weights;
  Tensor tokens = Tensor::full({batch}, static_cast<double>(options.bos), DType::i64,
                               state.hidden.device());
  for (std::int64_t t = 0; t < options.max_len && !rows.all_ended(); ++t) {
    DecoderStep one = step(tokens, state);
    if (one.weights.defined()) weights.push_back(one.weights);
    state = one.state;
    tokens = argmax(one.logits, -1);
    const auto chosen = tokens.to_vector<std::int64_t>();
    for (std::size_t row = 0; row < count; ++row) rows.write(row, t, chosen[row], options);
  }
  GreedyDecoded done{Tensor::from(rows.tokens, {batch, options.max_len}),
                     Tensor::from(rows.lengths, {batch}),
                     {}};
  if (weights.empty()) return done;
  const Tensor all = stack(weights, 1);
  const Tensor written =
      padding::first_places(done.lengths, all.size(1), all.device()).unsqueeze(-1);
  done.weights = pad(keep_where(all, written), 1, 0, options.max_len - all.size(1));
  return done;
}

}  // namespace attn::nn
