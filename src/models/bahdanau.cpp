// Bahdanau's model: words, a GRU that reads both ways, additive attention before each step.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/attention/additive_score.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tape.hpp"
#include "models/cached_decoding.hpp"
#include "models/copying.hpp"
#include "models/head_row.hpp"
#include "models/kinds.hpp"
#include "models/recurrent_encoder.hpp"
#include "models/token_loss.hpp"
#include "models/words.hpp"

namespace attn::models {
namespace {

void check(const ModelOptions& options) {
  if (options.copy != Copy::none && options.source_vocabulary != options.target_vocabulary)
    fail("attn::models::make_bahdanau: copying between vocabularies of ",
         options.source_vocabulary, " and ", options.target_vocabulary,
         "; one vocabulary is accepted");
}

/// The part of a source that a steered step may look at, for a decoder that knows lengths
/// alone. What the others have at closed positions is left out, not masked: attention over
/// content does not care where a key stood.
class OpenSource {
 public:
  OpenSource(const DecoderSource& whole, const Steering& steering, std::int64_t step);

  const DecoderSource& source() const { return open_; }
  /// Weights [rows, steps, open] where they belong, [rows, steps, source].
  Tensor spread(const Tensor& weights) const;

 private:
  DecoderSource open_;
  Tensor places_;  ///< i64 [open]; none: all are open
  std::int64_t extent_;
};

OpenSource::OpenSource(const DecoderSource& whole, const Steering& steering, std::int64_t step)
    : open_(whole), extent_(whole.values.size(1)) {
  const Tensor flags = steering.open(step, 1, extent_);
  std::vector<std::int64_t> positions;
  for (std::int64_t place = 0; place < extent_; ++place)
    if (flags.data<bool>()[place]) positions.push_back(place);
  if (positions.size() == static_cast<std::size_t>(extent_)) return;

  places_ = Tensor::from(positions, {static_cast<std::int64_t>(positions.size())});
  open_.keys = nn::select_rows(whole.keys, 1, places_);
  open_.values = nn::select_rows(whole.values, 1, places_);
  // Places rise, so those within a length come first here too.
  const Tensor lengths = whole.lengths.contiguous();
  std::vector<std::int64_t> within;
  within.reserve(static_cast<std::size_t>(lengths.numel()));
  for (std::int64_t row = 0; row < lengths.numel(); ++row)
    within.push_back(std::lower_bound(positions.begin(), positions.end(),
                                      lengths.data<std::int64_t>()[row]) -
                     positions.begin());
  open_.lengths = Tensor::from(within, {lengths.numel()});
}

Tensor OpenSource::spread(const Tensor& weights) const {
  if (!places_.defined()) return weights;
  return scatter_add(
      weights, 2,
      places_.to(weights.device()).reshape({1, 1, places_.size(0)}).expand(weights.shape()),
      extent_);
}

class BahdanauModel final : public CachedModel<BahdanauModel> {
 public:
  struct State {
    DecoderSource source;
    Tensor hidden;       ///< [layers, rows, dim]
    CopySource copying;  ///< of a model that copies
    Tensor covered;      ///< so, [rows, source]
    Steering steering{};
    std::int64_t steps = 0;  ///< done

    void select(const Tensor& rows) {
      source = nn::select_rows(source, rows);
      hidden = nn::select_rows(hidden, 1, rows);
      if (copying.ids.defined()) copying.select(rows);
      covered = nn::select_rows(covered, 0, rows);
    }
  };

  explicit BahdanauModel(const ModelOptions& options)
      : words_(add("words", Words(options))),
        encoder_(add("encoder", RecurrentEncoder(Cell::gru, options))),
        alignment_(add("alignment", nn::AdditiveScore({.query_dim = options.dim,
                                                       .key_dim = options.dim,
                                                       .hidden_dim = options.dim}))),
        rnn_(add("decoder", nn::Gru({.in = 2 * options.dim,
                                     .hidden = options.dim,
                                     .layers = options.decoder_layers}))),
        read_out_(add("read_out", nn::Linear({.in = 3 * options.dim, .out = options.dim}))) {
    if (options.copy != Copy::none) copy_ = add("copy", CopyHead(options.dim, options.copy));
  }

  Tensor loss(const Batch& batch, const LossOptions& options) const override {
    check_batch(batch, "attn::models::BahdanauModel::loss");
    State state = begin(batch.source, batch.source_lengths);
    const Run made = run(batch.input, state, options);
    return copy_ ? copy_loss(state.copying, made.copied, made.logits, batch, options)
                 : token_loss(made.logits, batch.target, options, batch.weights);
  }

  std::vector<HeadPlace> head_places() const override { return {{}}; }

  /// The alignment's, also in a model that copies by other weights.
  HeadRow head_row(const Batch& batch, const HeadPlace& place, std::int64_t row,
                   const Steering& steering) const override {
    const NoGrad off_the_tape;
    check_head_row(batch, head_places(), place, row);
    steering.validate(batch.source.size(1));
    State state = begin(batch.source, batch.source_lengths);
    state.steering = steering;
    for (std::int64_t t = 0; t < row; ++t) run(batch.input.slice(1, t, t + 1), state, {});
    const Tensor top = state.hidden.select(0, state.hidden.size(0) - 1);
    const auto only = [](const Tensor& x) { return on_cpu(x.select(0, 0)); };
    HeadRow made;
    made.scores =
        additive_scores(only(linear(top, alignment_.query_weight())), only(state.source.keys),
                        on_cpu(alignment_.score_weight()), 1.0 / steering.temperature);
    made.open = open_keys(spec::lengths(state.source.lengths) &&
                              steering.context(row, 1, state.source.values).keep,
                          {1, 1, 1, state.source.values.size(1)}, place, 0, top.device());
    made.values = only(state.source.values);
    const Aligned looked = aligned(words_.target(batch.input.slice(1, row, row + 1)), state);
    made.weights = only(looked.weights.select(0, 0));
    made.output = only(looked.read.contexts.select(0, 0));
    return made;
  }

  State begin(const Tensor& source, const Tensor& lengths) const {
    const Encoded read = encoder_(words_.source(source), lengths);
    return {{alignment_.keys(read.out), read.out, lengths},
            read.state,
            copy_ ? copy_->read(source, read.out, lengths) : CopySource{},
            {},
            {}};
  }

  Prediction step(const Tensor& tokens, State& state) const {
    const Run made = run(tokens.unsqueeze(1), state, {});
    const Tensor log_probs =
        copy_ ? mixed_log_probabilities(state.copying, made.copied, made.logits)
              : log_softmax(made.logits);
    return {log_probs.squeeze(1), made.weights.squeeze(1)};
  }

 private:
  struct Run {
    Tensor logits;   ///< [rows, steps, vocabulary]
    Tensor weights;  ///< [rows, steps, source]; those that copy, if any do
    CopyResult copied;
  };

  struct Aligned {
    BahdanauResult read;
    Tensor weights;  ///< over the whole source
  };
  Aligned aligned(const Tensor& y, const State& state) const {
    // A steered run has one step.
    const OpenSource open(state.source, state.steering, state.steps);
    const Tensor& v = alignment_.score_weight();
    const BahdanauResult read = bahdanau_decode(
        y, open.source(), state.hidden,
        {.query = alignment_.query_weight(),
         .score = state.steering.temperature == 1.0 ? v : v / state.steering.temperature,
         .rnn = rnn_.weights()});
    return {read, open.spread(read.weights)};
  }

  /// Any number of steps: tokens i64 [rows, steps].
  Run run(const Tensor& tokens, State& state, const LossOptions& options) const {
    const Tensor y = words_.target(tokens);
    const auto [read, weights] = aligned(y, state);
    state.hidden = read.state;
    Run made{.logits = {}, .weights = weights, .copied = {}};
    if (copy_) {
      made.copied = copy_->forward(state.copying, read.states, y, state.covered, options,
                                   state.steering.context(state.steps, 1, state.source.values));
      made.weights = made.copied.weights;
      state.covered = made.copied.covered;
    }
    state.steps += tokens.size(1);
    const Tensor& context = copy_ ? made.copied.context : read.contexts;
    made.logits = words_.logits(tanh(read_out_(concat({read.states, context, y}, 2))));
    return made;
  }

  Words words_;
  RecurrentEncoder encoder_;
  nn::AdditiveScore alignment_;
  nn::Gru rnn_;
  nn::Linear read_out_;
  std::optional<CopyHead> copy_;
};

}  // namespace

std::shared_ptr<Seq2Seq> make_bahdanau(const ModelOptions& options) {
  check(options);
  return std::make_shared<BahdanauModel>(options);
}

}  // namespace attn::models
