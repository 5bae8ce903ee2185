// The model without attention.

#include <memory>

#include "attn/models/seq2seq.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "models/cached_decoding.hpp"
#include "models/kinds.hpp"
#include "models/recurrent_encoder.hpp"
#include "models/token_loss.hpp"
#include "models/words.hpp"

namespace attn::models {
namespace {

class RnnModel final : public CachedModel<RnnModel> {
 public:
  struct State {
    Tensor context;  ///< [rows, dim]
    Tensor hidden;   ///< [layers, rows, dim]

    void select(const Tensor& rows) {
      context = nn::select_rows(context, 0, rows);
      hidden = nn::select_rows(hidden, 1, rows);
    }
  };

  explicit RnnModel(const ModelOptions& options)
      : words_(add("words", Words(options))),
        encoder_(add("encoder", RecurrentEncoder(Cell::gru, options))),
        rnn_(add("decoder", nn::Gru({.in = 2 * options.dim,
                                     .hidden = options.dim,
                                     .layers = options.decoder_layers}))),
        read_out_(add("read_out", nn::Linear({.in = 3 * options.dim, .out = options.dim}))) {}

  Tensor loss(const Batch& batch, const LossOptions& options) const override {
    check_batch(batch, "attn::models::RnnModel::loss");
    State state = begin(batch.source, batch.source_lengths);
    return token_loss(run(batch.input, state), batch.target, options, batch.weights);
  }

  State begin(const Tensor& source, const Tensor& lengths) const {
    const Encoded read = encoder_(words_.source(source), lengths);
    return {read.summary, read.state};
  }

  Prediction step(const Tensor& tokens, State& state) const {
    return {log_softmax(run(tokens.unsqueeze(1), state).squeeze(1)), {}};
  }

 private:
  /// Any number of steps: tokens i64 [rows, steps] -> logits.
  Tensor run(const Tensor& tokens, State& state) const {
    const Tensor y = words_.target(tokens);
    const Tensor context = state.context.unsqueeze(1).expand(y.shape());
    const GruResult read = rnn_(concat({y, context}, 2), state.hidden);
    state.hidden = read.state;
    return words_.logits(tanh(read_out_(concat({read.out, context, y}, 2))));
  }

  Words words_;
  RecurrentEncoder encoder_;
  nn::Gru rnn_;
  nn::Linear read_out_;
};

}  // namespace

std::shared_ptr<Seq2Seq> make_rnn(const ModelOptions& options) {
  return std::make_shared<RnnModel>(options);
}

}  // namespace attn::models
