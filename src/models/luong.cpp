#include "attn/models/luong.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/models/steering.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/nn/seq2seq/decoder_step.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/cached_decoding.hpp"
#include "models/head_row.hpp"
#include "models/luong_attention.hpp"
#include "models/recurrent_encoder.hpp"
#include "models/step_steering.hpp"
#include "models/token_loss.hpp"
#include "models/words.hpp"

namespace attn::models {
namespace {

class LuongModel final : public Seq2Seq {
 public:
  struct State {
    DecoderSource source;
    nn::DecoderState decoder;
    std::int64_t steps = 0;  ///< done
    Steering steering{};

    void select(const Tensor& rows) {
      source = nn::select_rows(source, rows);
      decoder = nn::select_rows(decoder, rows);
    }
  };

  explicit LuongModel(const ModelOptions& options)
      : feeding_(options.feeding),
        words_(add("words", Words(options))),
        encoder_(add("encoder", RecurrentEncoder(Cell::lstm, options))),
        attention_(add("attention", LuongAttention(options))),
        rnn_(add("decoder",
                 nn::Lstm({.in = (options.feeding == Feeding::on ? 2 : 1) * options.dim,
                           .hidden = options.dim,
                           .layers = options.decoder_layers}))),
        join_(add(
            "W_c",
            nn::Linear({.in = 2 * options.dim, .out = options.dim, .bias = nn::Bias::none}))) {}

  Tensor loss(const Batch& batch, const LossOptions& options) const override {
    check_batch(batch, "attn::models::LuongModel::loss");
    State state = begin(batch.source, batch.source_lengths);
    const Run made = run(words_.target(batch.input), state);
    return token_loss(words_.logits(made.attentional), batch.target, options, batch.weights);
  }

  std::unique_ptr<Decoding> decode(const Tensor& source, const Tensor& lengths) const override {
    const NoGrad off_the_tape;
    return std::make_unique<CachedDecoding<LuongModel>>(*this, begin(source, lengths));
  }

  std::vector<HeadPlace> head_places() const override { return {{}}; }

  HeadRow head_row(const Batch& batch, const HeadPlace& place, std::int64_t row,
                   const Steering& steering) const override {
    const NoGrad off_the_tape;
    check_head_row(batch, head_places(), place, row);
    steering.validate(batch.source.size(1));
    State state = begin(batch.source, batch.source_lengths);
    state.steering = steering;
    const Tensor y = words_.target(batch.input);
    // A steered run has one step.
    for (std::int64_t t = 0; t < row; ++t) run(y.slice(1, t, t + 1), state);
    Tensor in = y.slice(1, row, row + 1);
    if (feeding_ == Feeding::on) in = concat({in, state.decoder.attentional.unsqueeze(1)}, 2);
    const LstmResult read = rnn_(in, state.decoder.hidden, state.decoder.cell);
    return attention_.row(read.out, state.source, row,
                          step_steering(steering, row, 1, state.source.values));
  }

  Prediction step(const Tensor& tokens, State& state) const {
    const Run made = run(words_.target(tokens.unsqueeze(1)), state);
    return {log_softmax(words_.logits(made.attentional).squeeze(1)), made.weights.squeeze(1)};
  }

 private:
  struct Run {
    Tensor attentional;  ///< [rows, steps, dim]
    Tensor weights;      ///< [rows, steps, source]
  };

  State begin(const Tensor& source, const Tensor& lengths) const {
    const Encoded read = encoder_(words_.source(source), lengths);
    // a_(-1) = 0.
    const Tensor fed =
        feeding_ == Feeding::on
            ? Tensor::zeros(read.summary.shape(), read.summary.dtype(), read.summary.device())
            : Tensor();
    return {attention_.read(read.out, lengths), {read.state, read.cell, fed}};
  }

  /// Any number of steps: y [rows, steps, dim].
  Run run(const Tensor& y, State& state) const {
    if (feeding_ == Feeding::off) return run_at_once(y, state);
    return attention_.fused() && state.steering.as_trained() ? run_fused(y, state)
                                                             : run_by_steps(y, state);
  }

  Run run_fused(const Tensor& y, State& state) const {
    const LuongResult read =
        luong_decode(y, state.source, state.decoder.hidden, state.decoder.cell,
                     {.query = attention_.query_weight(),
                      .score = attention_.score_weight(),
                      .rnn = rnn_.weights(),
                      .join = join_.weight()},
                     state.decoder.attentional);
    const std::int64_t last = y.size(1) - 1;
    state.decoder = {read.state, read.cell, read.attentional.select(1, last)};
    state.steps += y.size(1);
    return {read.attentional, read.weights};
  }

  /// Without feeding only the LSTM loops; the queries of all steps are one call.
  Run run_at_once(const Tensor& y, State& state) const {
    const LstmResult read = rnn_(y, state.decoder.hidden, state.decoder.cell);
    const Attended looked = attention_.forward(
        read.out, state.source, state.steps,
        step_steering(state.steering, state.steps, y.size(1), state.source.values));
    state.decoder.hidden = read.state;
    state.decoder.cell = read.cell;
    state.steps += y.size(1);
    return {tanh(join_(concat({looked.output, read.out}, 2))), looked.weights};
  }

  /// a_t enters the next step, and the fused loop knows no windows, locations or steering: it
  /// loops over time here, some ten small ops a step.
  Run run_by_steps(const Tensor& y, State& state) const {
    std::vector<Tensor> attentional;
    std::vector<Tensor> weights;
    for (std::int64_t t = 0; t < y.size(1); ++t) {
      const Tensor in =
          concat({y.slice(1, t, t + 1), state.decoder.attentional.unsqueeze(1)}, 2);
      const Run one = run_at_once(in, state);
      state.decoder.attentional = one.attentional.squeeze(1);
      attentional.push_back(one.attentional);
      weights.push_back(one.weights);
    }
    return {concat(attentional, 1), concat(weights, 1)};
  }

  Feeding feeding_;
  Words words_;
  RecurrentEncoder encoder_;
  LuongAttention attention_;
  nn::Lstm rnn_;
  nn::Linear join_;
};

}  // namespace

std::shared_ptr<Seq2Seq> make_luong(const ModelOptions& options) {
  return std::make_shared<LuongModel>(options);
}

}  // namespace attn::models
