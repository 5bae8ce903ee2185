#include "tasks/cloze/reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attn/nn/dropout.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/mechanisms/composed/attention_over_attention.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks::cloze {
namespace {

using Words = std::vector<std::int64_t>;

/// A name without weight keeps a finite loss.
constexpr double kLeast = 1e-9;
/// The logarithm of a name that cannot be the answer.
constexpr double kNever = -1e4;

/// One member of all, padded with 0: i64 [batch, longest].
Tensor padded(std::span<const Passage> batch, Words Passage::* member) {
  std::size_t longest = 1;
  for (const Passage& one : batch) longest = std::max(longest, (one.*member).size());
  Words ids(batch.size() * longest, 0);
  for (std::size_t i = 0; i < batch.size(); ++i)
    std::copy((batch[i].*member).begin(), (batch[i].*member).end(),
              ids.begin() + static_cast<std::ptrdiff_t>(i * longest));
  return Tensor::from(
      ids, {static_cast<std::int64_t>(batch.size()), static_cast<std::int64_t>(longest)});
}

Tensor lengths_of(std::span<const Passage> batch, Words Passage::* member) {
  Words lengths;
  for (const Passage& one : batch)
    lengths.push_back(static_cast<std::int64_t>((one.*member).size()));
  return Tensor::from(lengths, {static_cast<std::int64_t>(batch.size())});
}

/// 0 for names that may be the answer, else kNever.
Tensor excluded(std::span<const Passage> batch) {
  constexpr auto kWidth = static_cast<std::size_t>(kMostNames + 1);
  std::vector<float> numbers(batch.size() * kWidth, static_cast<float>(kNever));
  for (std::size_t i = 0; i < batch.size(); ++i)
    for (std::size_t name = 0; name < batch[i].can_be.size(); ++name)
      if (batch[i].can_be[name]) numbers[i * kWidth + name + 1] = 0.0f;
  return Tensor::from(numbers, {static_cast<std::int64_t>(batch.size()), kMostNames + 1});
}

}  // namespace

Reader::Reader(const ReaderOptions& options)
    : options_(options),
      words_(
          add("words", nn::Embedding({.rows = options.vocabulary, .features = options.words}))),
      names_(add("names", nn::Embedding({.rows = kMostNames + 1, .features = options.words}))),
      text_(add("text", nn::Gru({.in = options.words,
                                 .hidden = options.hidden,
                                 .direction = Direction::both}))),
      question_(add("question", nn::Gru({.in = options.words,
                                         .hidden = options.hidden,
                                         .direction = Direction::both}))),
      dropout_(add("dropout", nn::Dropout(options.dropout))) {}

/// [batch, words, 2 hidden].
Tensor Reader::states(const nn::Gru& rnn, const Tensor& words, const Tensor& names,
                      const Tensor& lengths) const {
  const Tensor vectors = words_(words.to(device())) + names_(names.to(device()));
  return dropout_(rnn(dropout_(vectors), {}, lengths.to(device())).out);
}

Reader::Result Reader::operator()(std::span<const Passage> batch) const {
  const Tensor text_lens = lengths_of(batch, &Passage::text);
  const Tensor question_lens = lengths_of(batch, &Passage::question);
  const Tensor ids = padded(batch, &Passage::names).to(device());
  const Tensor text = states(text_, padded(batch, &Passage::text), ids, text_lens);
  const Tensor question = states(question_, padded(batch, &Passage::question),
                                 padded(batch, &Passage::question_names), question_lens);
  Result result;
  Tensor chances;
  if (options_.attention == "over") {
    const nn::AttentionOverAttentionResult read = nn::attention_over_attention(
        {.document = text,
         .query = question,
         .document_ids = ids,
         .document_lens = text_lens,
         .query_lens = question_lens},
        kMostNames + 1, training() ? Want::output : Want::output | Want::weights);
    result.alpha = read.alpha;
    result.s = read.s;
    chances = read.word_probs;
  } else {
    // What the forward direction has read at the end, and the backward one at the beginning.
    std::vector<std::int64_t> last = question_lens.to_vector<std::int64_t>();
    for (std::int64_t& place : last) --place;
    const std::int64_t hidden = options_.hidden;
    const auto rows = static_cast<std::int64_t>(last.size());
    const Tensor at =
        Tensor::from(last, {rows, 1, 1}).expand({rows, 1, hidden}).contiguous().to(device());
    const Tensor asked = concat({gather(question.slice(2, 0, hidden), 1, at),
                                 question.slice(1, 0, 1).slice(2, hidden, 2 * hidden)},
                                2);
    const Tensor looked = attend(asked, text, {}, spec::dot(), spec::lengths(text_lens),
                                 spec::softmax(), Want::weights)
                              .weights;
    result.s = looked.squeeze(1);
    result.alpha = looked.transpose(1, 2);
    chances = scatter_add(result.s, 1, ids, kMostNames + 1);
  }
  result.scores = log(affine(chances, 1.0, kLeast)) + excluded(batch).to(device());
  return result;
}

}  // namespace attn::tasks::cloze
