// The layers of chat.

#include "tasks/chat/layers.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/nn/attention/additive_score.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/pooling/plain_pooling.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/classify/text_batch.hpp"

namespace attn::tasks::chat {
namespace {

/// Where tables begin: small beside what a GRU adds.
constexpr double kTable = 0.3;
/// What a shared word counts at first.
constexpr double kMatch = 2.0;

std::int64_t speaker_dim(const LayerOptions& options) {
  return options.state / 4;
}

nn::Linear layer(std::int64_t in, std::int64_t out) {
  return nn::Linear({.in = in, .out = out});
}

/// [.., queries, turns] beside [.., turns, queries, words]: one number for each word.
Tensor times_words(const Tensor& turn_weights, const Tensor& word_weights) {
  const Tensor by_query = word_weights.permute({0, 2, 1, 3});
  return by_query * turn_weights.unsqueeze(-1).expand(by_query.shape());
}

}  // namespace

const std::vector<std::string>& attention_names() {
  static const std::vector<std::string> kNames{"hierarchical", "flat", "none"};
  return kNames;
}

Encoding Encoding::select(const Tensor& rows) const {
  Encoding some = *this;
  some.dialogues = rows.size(0);
  for (Tensor* part :
       {&some.states, &some.there, &some.pooled, &some.turn_states, &some.word_keys})
    if (part->defined()) *part = index_select(*part, 0, rows);
  return some;
}

Layers::Layers(const LayerOptions& options)
    : options_(options),
      dropout_(add("dropout", nn::Dropout(options.dropout))),
      table_(add("words", nn::uniform_within({options.words, options.dim}, kTable))),
      pieces_(add("pieces", nn::uniform_within({options.pieces, options.dim}, kTable))),
      speakers_(add("speakers", nn::uniform_within({2, speaker_dim(options)}, kTable))),
      reader_(add("reader", nn::Gru({.in = options.dim,
                                     .hidden = options.hidden,
                                     .direction = Direction::both}))),
      dialogue_(add("dialogue", nn::Gru({.in = 2 * options.hidden + speaker_dim(options),
                                         .hidden = options.state}))),
      begin_(add("begin", layer(options.state, options.state))),
      writer_(add("writer", nn::Gru({.in = options.dim, .hidden = options.state}))),
      read_out_(add("read_out",
                    layer((looks() ? 2 * options.hidden : 0) + options.state + options.dim,
                          options.dim))),
      out_(add("out", layer(options.dim, options.outputs))),
      chooser_{add("choose_dialogue", layer(options.state, options.state)),
               add("choose_reply", layer(2 * options.hidden, options.state))} {
  if (!looks()) return;
  const std::int64_t features = 2 * options.hidden;
  hidden_.emplace(add("hidden", layer(features, features)));
  query_ = add("query", nn::fan_in_uniform({features}, features));
  word_query_.emplace(add("word_query", layer(options.state, options.state)));
  word_key_.emplace(add("word_key", layer(features, options.state)));
  if (options.attention == Attention::hierarchical)
    turn_score_.emplace(add("turn_score", nn::AdditiveScore({.query_dim = options.state,
                                                             .key_dim = options.state,
                                                             .hidden_dim = options.state})));
  gate_.emplace(add("gate", layer(features + options.state + options.dim, 1)));
  const Tensor first = options.first_matches.defined() ? options.first_matches
                                                       : Tensor::full({options.matches}, 1.0);
  looker_.emplace(Looker{add("choose_query", layer(features, options.state)),
                         add("choose_key", layer(features, options.state)),
                         add("choose_value", layer(features, options.state)),
                         add("choose_look", layer(features, options.state)),
                         add("match", first.clone()), add("match_last", first.clone()),
                         add("match_scale", Tensor::full({2}, kMatch))});
}

/// A word is its own row and the mean of its pieces; in training some rows are hidden, so that
/// pieces learn to do.
Tensor Layers::embedded(const classify::TextBatch& texts) const {
  Tensor ids = texts.ids;
  if (training() && options_.word_dropout > 0.0) {
    const auto draws = uniform(ids.shape(), 0.0, 1.0, nn::random()).to_vector<float>();
    auto numbers = ids.to_vector<std::int64_t>();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (draws[i] < options_.word_dropout) numbers[i] = text::Mark::unknown;
    ids = Tensor::from(numbers, ids.shape()).to(device());
  }
  const Tensor pieces =
      nn::average_pooling(embedding(pieces_, texts.pieces), texts.piece_counts).output;
  return dropout_(embedding(table_, ids) + embedding(pieces, texts.places));
}

Tensor Layers::pool(const Tensor& states, const Tensor& lengths) const {
  if (!looks()) return nn::average_pooling(states, lengths).output;
  // The constructor made it for these options.
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access)
  return nn::additive_pooling((*hidden_)(states), query_, states, spec::lengths(lengths))
      .output.squeeze(1);
}

Tensor Layers::pooled(const classify::TextBatch& texts) const {
  return pool(dropout_(reader_(embedded(texts), {}, texts.word_lens).out), texts.word_lens);
}

Encoding Layers::read(const classify::TextBatch& dialogues) const {
  Encoding encoding{.dialogues = dialogues.texts,
                    .turns = dialogues.sentences,
                    .words = dialogues.words,
                    .states = {},
                    .there = {},
                    .pooled = {},
                    .turn_states = {},
                    .word_keys = {}};
  const Shape turns{encoding.dialogues, encoding.turns, 2 * options_.hidden};
  const Tensor states = dropout_(reader_(embedded(dialogues), {}, dialogues.word_lens).out);
  encoding.pooled = pool(states, dialogues.word_lens).reshape(turns);
  std::vector<std::int64_t> speakers;
  speakers.reserve(static_cast<std::size_t>(encoding.dialogues * encoding.turns));
  for (std::int64_t i = 0; i < encoding.dialogues * encoding.turns; ++i)
    speakers.push_back(i % encoding.turns % 2);
  const Tensor speaker = embedding(
      speakers_, Tensor::from(speakers, {encoding.dialogues, encoding.turns}).to(device()));
  encoding.turn_states = dropout_(dialogue_(concat({encoding.pooled, speaker}, 2)).out);
  encoding.states =
      states.reshape({encoding.dialogues, encoding.turns, encoding.words, 2 * options_.hidden});
  encoding.there = length_mask(dialogues.word_lens, encoding.words)
                       .reshape({encoding.dialogues, encoding.turns, 1, encoding.words});
  // The constructor made it for these options.
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access)
  if (looks()) encoding.word_keys = (*word_key_)(encoding.states);
  return encoding;
}

Tensor Layers::begin(const Encoding& encoding, const Tensor& positions) const {
  return tanh(begin_(embedding(encoding.turn_states.flatten(0, 1), positions)));
}

Layers::Steps Layers::write(const classify::TextBatch& words, const Tensor& begin) const {
  const Tensor inputs = embedded(words);
  const GruResult run = writer_(inputs, begin.unsqueeze(0), words.word_lens);
  return {inputs, dropout_(run.out), run.state.select(0, 0)};
}

/// Over all words at once, one softmax.
WordAttention Layers::attend_flat(const Encoding& encoding, const Tensor& queries,
                                  const Tensor& open) const {
  const std::int64_t count = queries.size(1);
  const std::int64_t all = encoding.turns * encoding.words;
  const Tensor keep =
      logical_and(
          encoding.there.reshape({encoding.dialogues, 1, encoding.turns, encoding.words})
              .expand({encoding.dialogues, count, encoding.turns, encoding.words}),
          open.unsqueeze(-1).expand(
              {encoding.dialogues, count, encoding.turns, encoding.words}))
          .reshape({encoding.dialogues, count, all});
  const Attended result = attend(
      queries, encoding.word_keys.reshape({encoding.dialogues, all, options_.state}),
      encoding.states.reshape({encoding.dialogues, all, 2 * options_.hidden}),
      spec::scaled_dot(), spec::dense(keep), spec::softmax(), Want::output | Want::weights);
  return {result.output, result.weights, {}, {}};
}

/// Turns first, then the words of each: the weight of a word is that of its turn times its own
/// within the turn.
WordAttention Layers::attend_down(const Encoding& encoding, const Tensor& queries,
                                  const Tensor& open) const {
  const std::int64_t count = queries.size(1);
  const std::int64_t all = encoding.turns * encoding.words;
  const Tensor to_words =
      queries.unsqueeze(1).expand({encoding.dialogues, encoding.turns, count, options_.state});
  WordAttention attention;
  attention.word_weights = attend(to_words, encoding.word_keys, {}, spec::scaled_dot(),
                                  spec::dense(encoding.there), spec::softmax(), Want::weights)
                               .weights;
  attention.turn_weights =
      // The constructor made it for these options.
      // NOLINTNEXTLINE(bugprone-unchecked-optional-access)
      turn_score_
          ->forward(queries, encoding.turn_states, encoding.turn_states, spec::dense(open),
                    Want::weights)
          .weights;
  attention.weights = times_words(attention.turn_weights, attention.word_weights)
                          .reshape({encoding.dialogues, count, all});
  attention.context =
      matmul(attention.weights,
             encoding.states.reshape({encoding.dialogues, all, 2 * options_.hidden}));
  return attention;
}

WordAttention Layers::look(const Encoding& encoding, const Tensor& queries,
                           const Tensor& open) const {
  if (!looks()) return {};
  // The constructor made it for these options.
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access)
  const Tensor projection = (*word_query_)(queries);
  return options_.attention == Attention::flat ? attend_flat(encoding, projection, open)
                                               : attend_down(encoding, projection, open);
}

Tensor Layers::joined(const WordAttention& attention, const Tensor& states,
                      const Tensor& inputs) const {
  return looks() ? concat({attention.context, states, inputs}, 2) : concat({states, inputs}, 2);
}

Tensor Layers::gate(const WordAttention& attention, const Tensor& states,
                    const Tensor& inputs) const {
  // The constructor made it for these options.
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access)
  return sigmoid((*gate_)(joined(attention, states, inputs))).squeeze(-1);
}

Tensor Layers::logits(const WordAttention& attention, const Tensor& states,
                      const Tensor& inputs) const {
  return out_(dropout_(tanh(read_out_(joined(attention, states, inputs)))));
}

/// Each word of a reply looks for itself in the dialogue, and in its last turn; what it counts
/// is learnt, and long replies count no more than short ones.
Tensor Layers::shared_words(const Matches& matches) const {
  // The constructor made it for these options.
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access)
  const Looker& looker = *looker_;
  const auto score = [&](const Tensor& table, const Tensor& has, std::int64_t which) {
    const Tensor worth = square(embedding(table.unsqueeze(1), matches.bins)).squeeze(1);
    const Tensor norm = sqrt(sum(matches.replies * worth, 1) + 1.0);
    const Tensor products = matmul(has * worth, matches.replies.transpose(0, 1));
    return products / norm * looker.match_scale.slice(0, which, which + 1);
  };
  return score(looker.match, matches.so_far, 0) + score(looker.match_last, matches.last, 1);
}

Tensor Layers::choose(const Encoding& encoding, const Tensor& replies, const Tensor& positions,
                      const Tensor& open, const Matches& matches) const {
  const Tensor behind = gather(
      encoding.turn_states, 1,
      positions.unsqueeze(-1).expand({positions.size(0), positions.size(1), options_.state}));
  Tensor alike = matmul(chooser_.dialogue(behind), chooser_.reply(replies).transpose(0, 1));
  if (!looker_) return alike;
  const std::int64_t count = replies.size(0);
  const Shape shape{encoding.dialogues, positions.size(1), count, options_.state};
  const Tensor context =
      attend(looker_->query(replies).reshape({1, 1, count, options_.state}).expand(shape),
             looker_->key(encoding.pooled).unsqueeze(1),
             looker_->value(encoding.pooled).unsqueeze(1), spec::scaled_dot(),
             spec::dense(open.unsqueeze(2)))
          .output;
  return alike + sum(context * looker_->reply(replies), -1) + shared_words(matches);
}

}  // namespace attn::tasks::chat
