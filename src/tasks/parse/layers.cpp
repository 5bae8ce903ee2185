#include "tasks/parse/layers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/nn/conv.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/pointer/biaffine_attention.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"

namespace attn::tasks::parse {
namespace {

/// Characters that a convolution sees at a time.
constexpr std::int64_t kKernel = 5;
/// Heads farther away than this have one score together, on either side.
constexpr std::int64_t kFarthest = 32;

/// x [batch, places, channels] with zeros past the lengths.
Tensor zero_past(const Tensor& x, const Tensor& lengths) {
  return keep_where(x, length_mask(lengths, x.size(1)).unsqueeze(-1));
}

}  // namespace

WordEncoder::WordEncoder(const ParserOptions& options)
    : words_(add("words", nn::Embedding({options.words, options.word_size}))),
      characters_(
          add("characters", nn::Embedding({options.characters, options.character_size}))),
      letters_(add(
          "letters",
          nn::Conv1d(
              {.in = options.character_size, .out = options.spelling_size, .kernel = kKernel},
              {.pad_before = kKernel / 2, .pad_after = kKernel / 2}))),
      tags_(add("tags", nn::Linear({2 * options.state, options.tags}))),
      tag_table_(add("tag_table", nn::without_bias(options.tags, options.tag_size))),
      dropout_(add("dropout", nn::Dropout(options.drop))) {
  for (std::int64_t i = 0; i < options.layers; ++i)
    layers_.push_back(
        add("layers." + std::to_string(i),
            nn::Lstm({.in = i == 0 ? options.word_size + options.spelling_size
                                   : 2 * options.state + (i == 1 ? options.tag_size : 0),
                      .hidden = options.state,
                      .direction = Direction::both})));
}

Tensor WordEncoder::spelling(const WordBatch& batch) const {
  // Zeros past a word's end, before and after: what is padded beside it changes nothing.
  const Tensor letters = zero_past(characters_(batch.letters), batch.letter_lengths);
  const Tensor seen = relu(letters_(letters.transpose(1, 2))).transpose(1, 2);
  const Tensor most = max(zero_past(seen, batch.letter_lengths), 1).values;
  return embedding(most, batch.spellings);
}

WordStates WordEncoder::forward(const WordBatch& batch) const {
  WordStates result;
  Tensor x = concat({words_(batch.words), spelling(batch)}, 2);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    x = layers_[i](dropout_(x), {}, {}, batch.lengths).out;
    if (i > 0) continue;
    result.tag_logits = tags_(dropout_(x));
    if (layers_.size() > 1) x = concat({x, tag_table_(softmax(result.tag_logits))}, 2);
  }
  result.states = dropout_(x);
  return result;
}

ArcScores::ArcScores(const ParserOptions& options) : arcs_(options.arcs) {
  if (arcs_ == Arcs::biaffine)
    biaffine_.push_back(
        add("biaffine", nn::BiaffineAttention({.dependent_dim = 2 * options.state,
                                               .head_dim = 2 * options.state,
                                               .hidden = options.arc_size,
                                               .dropout = options.drop})));
  else
    offsets_.push_back(add("offsets", nn::Linear({2 * options.state, 2 * kFarthest + 2})));
}

nn::Biaffine ArcScores::forward(const WordBatch& batch, const Tensor& states,
                                const Tensor& heads) const {
  if (arcs_ == Arcs::offsets) return by_offset(batch, states, heads);
  // The word of row i stands at place i + 1, and is no head of its own.
  return biaffine_.front().forward(states.slice(1, 1, states.size(1)), states,
                                   {.lengths = batch.lengths, .keep = !spec::window(0, 0, 1)},
                                   heads);
}

nn::Biaffine ArcScores::by_offset(const WordBatch& batch, const Tensor& states,
                                  const Tensor& heads) const {
  const std::int64_t rows = states.size(0);
  const std::int64_t count = states.size(1) - 1;
  const Tensor logits = offsets_.front()(states.slice(1, 1, count + 1));
  std::vector<std::int64_t> kinds;
  for (std::int64_t word = 1; word <= count; ++word)
    for (std::int64_t head = 0; head <= count; ++head)
      kinds.push_back(head == 0 ? 2 * kFarthest + 1
                                : std::clamp(head - word, -kFarthest, kFarthest) + kFarthest);
  const Tensor index = Tensor::from(kinds, {1, count, count + 1})
                           .to(states.device())
                           .expand({rows, count, count + 1});
  const Tensor scores = gather(logits, 2, index);
  const Attended looked = attend({}, {}, {}, spec::given(scores),
                                 spec::lengths(batch.lengths) && !spec::window(0, 0, 1),
                                 spec::softmax(), Want::weights | Want::log_sum_exp);
  nn::Biaffine result{looked.weights, looked.log_sum_exp, {}};
  if (!heads.defined()) return result;
  // Padding points at the root and is not counted.
  const Tensor named =
      length_mask(affine(batch.lengths.to(DType::f64), 1.0, -1.0).to(DType::i64), count);
  // Doubles hold every place.
  const Tensor places =
      keep_where(heads.to(states.device()).to(DType::f64), named).to(DType::i64);
  const Tensor score = gather(scores, 2, places.unsqueeze(-1)).squeeze(-1);
  result.log_prob = keep_where(score - looked.log_sum_exp, named);
  return result;
}

}  // namespace attn::tasks::parse
