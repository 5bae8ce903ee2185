#include "attn/nn/mechanisms/composed/hierarchical_attention.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/attention/additive_score.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/attend.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

/// The words of every sentence: those past the document have none. i64 [batch * sentences].
Tensor words_of(const Tensor& word_lens, const Tensor& sentence_lens, std::int64_t batch,
                std::int64_t sentences, std::int64_t words) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(batch * sentences), words);
  if (word_lens.defined()) counts = word_lens.to_vector<std::int64_t>();
  if (std::int64_t(counts.size()) != batch * sentences)
    fail("attn::nn::HierarchicalAttention: word_lens ", word_lens.text(), " for ", batch,
         " documents of ", sentences, " sentences; one length for each sentence is accepted");
  if (sentence_lens.defined()) {
    const auto lengths = sentence_lens.to_vector<std::int64_t>();
    for (std::int64_t i = 0; i < batch * sentences; ++i)
      if (i % sentences >= lengths[static_cast<std::size_t>(i / sentences)])
        counts[static_cast<std::size_t>(i)] = 0;
  }
  return Tensor::from(counts, {batch * sentences});
}

}  // namespace

HierarchicalAttention::HierarchicalAttention(const HierarchicalAttentionOptions& options)
    : word_(add("word", Linear({.in = options.word_dim, .out = options.word_hidden}))),
      u_w_(add("u_w", fan_in_uniform({options.word_hidden}, options.word_hidden))),
      gru_(options.encoder == SentenceEncoder::none
               ? std::nullopt
               : std::optional(add("sentence_gru", Gru({.in = options.word_dim,
                                                        .hidden = options.gru_hidden,
                                                        .direction = Direction::both})))),
      sentence_(add("sentence", Linear({.in = gru_ ? 2 * options.gru_hidden : options.word_dim,
                                        .out = options.sentence_hidden}))),
      u_s_(add("u_s", fan_in_uniform({options.sentence_hidden}, options.sentence_hidden))) {}

DocumentLook HierarchicalAttention::forward(const Tensor& word_states, const Tensor& word_lens,
                                            const Tensor& sentence_lens) const {
  if (word_states.rank() != 4)
    fail("attn::nn::HierarchicalAttention: word_states ", word_states.text(),
         "; [batch, sentences, words, word_dim] is accepted");
  const std::int64_t batch = word_states.size(0);
  const std::int64_t sentences = word_states.size(1);
  const std::int64_t words = word_states.size(2);
  const Tensor counts = words_of(word_lens, sentence_lens, batch, sentences, words);
  const Tensor known = padding::zero_past(word_states.flatten(0, 1), counts);
  const Attended read = additive_pooling(word_(known), u_w_, known, spec::lengths(counts));
  const Tensor vectors = read.output.reshape({batch, sentences, word_states.size(3)});

  const Tensor states = gru_ ? (*gru_)(vectors, {}, sentence_lens).out : vectors;
  const Tensor counted = Tensor::empty({batch, 1, sentences}, DType::boolean);
  const auto* count = counts.data<std::int64_t>();
  bool* flag = counted.mutable_data<bool>();
  for (std::int64_t i = 0; i < batch * sentences; ++i) flag[i] = count[i] > 0;
  const Attended looked = additive_pooling(sentence_(states), u_s_, states,
                                           spec::dense(counted.to(states.device())));
  return {read.weights.reshape({batch, sentences, words}), vectors, looked.weights.squeeze(1),
          looked.output.squeeze(1)};
}

}  // namespace attn::nn
