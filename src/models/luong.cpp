// Luong's model: words and an encoder around nn::LuongLoop.

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/attention/luong_attention.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/nn/recurrent/luong_loop.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tape.hpp"
#include "models/cached_decoding.hpp"
#include "models/head_row.hpp"
#include "models/kinds.hpp"
#include "models/recurrent_encoder.hpp"
#include "models/token_loss.hpp"
#include "models/words.hpp"

namespace attn::models {
namespace {

nn::LuongLoopOptions loop_of(const ModelOptions& options) {
  const std::int64_t dim = options.dim;
  const bool predicts = options.locality == Locality::predictive;
  return {.embedding = dim,
          .hidden = dim,
          .attentional = dim,
          .layers = options.decoder_layers,
          .feeding = options.feeding,
          .attention = {.query_dim = dim,
                        .key_dim = dim,
                        .score = options.score,
                        .locality = options.locality,
                        .window = options.window,
                        .fade = predicts ? nn::Fade::gaussian : nn::Fade::none,
                        .max_keys = options.max_source,
                        .names = nn::kModelLuong},
          .attention_name = "attention",
          .rnn_name = "decoder"};
}

/// One step for those who look inside: h [1, 1, dim], at position `first`.
HeadRow row_of(const nn::LuongAttention& attention, const Tensor& h,
               const DecoderSource& source, std::int64_t first, nn::AttentionContext context) {
  const auto only = [](const Tensor& x) { return on_cpu(x.select(0, 0)); };
  const double scale = 1.0 / context.temperature;
  const std::int64_t keys = source.values.size(1);
  HeadRow result;
  switch (attention.options().score) {
    case Score::location:
      result.scores =
          only(attention.location_scores(h, source).select(0, 0)).to(DType::f64) * scale;
      break;
    case Score::concat:
      result.scores =
          additive_scores(only(linear(h, attention.query_weight()).select(0, 0)),
                          only(source.keys), on_cpu(attention.score_weight()), scale);
      break;
    default:
      result.query = only(h.select(0, 0));
      result.keys = only(source.keys);
      result.scale = scale;
      result.scores = product_scores(result.query, result.keys, scale);
  }
  result.open = open_keys(attention.keep(h, source, first) && context.keep, {1, 1, 1, keys}, {},
                          0, h.device());
  if (attention.fades()) {
    const double p = attention.centre(h, source, first).item();
    const double sigma = static_cast<double>(attention.options().window) / 2;
    std::vector<double> factors;
    for (std::int64_t j = 0; j < keys; ++j) {
      const double away = (static_cast<double>(j) - p) / sigma;
      factors.push_back(std::exp(-0.5 * away * away));
    }
    result.factors = Tensor::from(factors, {keys});
  }
  context.want = Want::output | Want::weights;
  const Attended attended = attention.forward(h, source, first, context);
  result.weights = only(attended.weights.select(0, 0));
  result.values = only(source.values);
  result.output = only(attended.output.select(0, 0));
  return result;
}

class LuongModel final : public CachedModel<LuongModel> {
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
      : words_(add("words", Words(options))),
        encoder_(add("encoder", RecurrentEncoder(Cell::lstm, options))),
        loop_(add_unnamed(nn::LuongLoop(loop_of(options)))) {}

  Tensor loss(const Batch& batch, const LossOptions& options) const override {
    check_batch(batch, "attn::models::LuongModel::loss");
    State state = begin(batch.source, batch.source_lengths);
    const Tensor attentional = run(words_.target(batch.input), state).attentional;
    return token_loss(words_.logits(attentional), batch.target, options, batch.weights);
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
    return row_of(loop_.attention(), loop_.query(y.slice(1, row, row + 1), state.decoder),
                  state.source, row, steering.context(row, 1, state.source.values));
  }

  State begin(const Tensor& source, const Tensor& lengths) const {
    const Encoded read = encoder_(words_.source(source), lengths);
    return {loop_.attention().read(read.out, read.out, lengths),
            loop_.start(read.state, read.cell)};
  }

  Prediction step(const Tensor& tokens, State& state) const {
    const auto [attentional, weights] = run(words_.target(tokens.unsqueeze(1)), state);
    return {log_softmax(words_.logits(attentional).squeeze(1)), weights.squeeze(1)};
  }

 private:
  /// Any number of steps: y [rows, steps, dim].
  nn::LuongLoop::Result run(const Tensor& y, State& state) const {
    nn::LuongLoop::ContextOf context;
    if (!state.steering.as_trained())
      context = [&](std::int64_t first, std::int64_t steps) {
        return state.steering.context(first, steps, state.source.values);
      };
    const std::int64_t first = state.steps;
    state.steps += y.size(1);
    return loop_.run(y, state.source, state.decoder, first, context);
  }

  Words words_;
  RecurrentEncoder encoder_;
  nn::LuongLoop loop_;  ///< "attention", "decoder", "W_c"
};

}  // namespace

std::shared_ptr<Seq2Seq> make_luong(const ModelOptions& options) {
  return std::make_shared<LuongModel>(options);
}

}  // namespace attn::models
