#include "tasks/remember/reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/composed/key_value_memory.hpp"
#include "attn/nn/mechanisms/composed/memory_network.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks::remember {
namespace {

std::int64_t count_of(const auto& items) {
  return static_cast<std::int64_t>(items.size());
}

/// Rows of words, padded to the longest: i64 [rows, words], and i64 [rows].
struct Padded {
  Tensor ids;
  Tensor lengths;
};

Padded padded(std::span<const Words* const> rows) {
  std::size_t longest = 1;
  for (const Words* row : rows) longest = std::max(longest, row->size());
  std::vector<std::int64_t> ids(rows.size() * longest, 0);
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::copy(rows[i]->begin(), rows[i]->end(),
              ids.begin() + static_cast<std::ptrdiff_t>(i * longest));
    lengths.push_back(count_of(*rows[i]));
  }
  return {Tensor::from(ids, {count_of(rows), static_cast<std::int64_t>(longest)}),
          Tensor::from(lengths, {count_of(rows)})};
}

std::size_t most_sentences(std::span<const Memory> batch) {
  std::size_t most = 1;
  for (const Memory& one : batch) most = std::max(most, one.sentences.size());
  return most;
}

/// The sentences of all, as many rows for each; those that a story does not have are empty.
std::vector<const Words*> sentence_rows(std::span<const Memory> batch, std::size_t most) {
  static const Words kNone;
  std::vector<const Words*> rows;
  for (const Memory& one : batch)
    for (std::size_t i = 0; i < most; ++i)
      rows.push_back(i < one.sentences.size() ? &one.sentences[i] : &kNone);
  return rows;
}

std::vector<const Words*> questions_of(std::span<const Memory> batch) {
  std::vector<const Words*> rows;
  for (const Memory& one : batch) rows.push_back(&one.question);
  return rows;
}

Tensor memory_lens(std::span<const Memory> batch) {
  std::vector<std::int64_t> lengths;
  for (const Memory& one : batch) lengths.push_back(count_of(one.sentences));
  return Tensor::from(lengths, {count_of(batch)});
}

}  // namespace

Reader::Reader(const ReaderOptions& options) : options_(options) {
  if (options.memory == "sentences") {
    sentences_ = add_unnamed(
        nn::MemoryNetwork({.vocab_size = options.vocabulary,
                           .dim = options.dim,
                           .hops = options.hops,
                           .tying = options.tying == "layerwise" ? nn::MemoryTying::layerwise
                                                                 : nn::MemoryTying::adjacent,
                           .temporal_rows = options.memories}));
  } else if (options.memory == "key-value") {
    facts_ =
        add_unnamed(nn::KeyValueMemory({.features = 2 * options.vocabulary + options.memories,
                                        .dim = options.dim,
                                        .hops = options.hops}));
  } else {
    recurrent_ = Recurrent{
        add("words", nn::Embedding({.rows = options.vocabulary, .features = options.dim})),
        add("lstm", nn::Lstm({.in = options.dim, .hidden = options.dim})),
        add("answer", nn::Linear({.in = options.dim, .out = options.vocabulary}))};
  }
}

Reader::Result Reader::operator()(std::span<const Memory> batch,
                                  nn::MemoryWeights weights) const {
  if (sentences_) {
    // A handle to the same tables.
    nn::MemoryNetwork network = *sentences_;
    network.set_weights(weights);
    return look(network, batch);
  }
  if (facts_) return look_up(*facts_, batch);
  // The constructor made it for these options.
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access)
  return read(recurrent_.value(), batch);
}

Reader::Result Reader::look(const nn::MemoryNetwork& network,
                            std::span<const Memory> batch) const {
  const std::size_t most = most_sentences(batch);
  const auto memories = static_cast<std::int64_t>(most);
  const auto [ids, lengths] = padded(sentence_rows(batch, most));
  const auto [question, question_lens] = padded(questions_of(batch));
  const nn::MemoryNetworkResult looked =
      network.forward({.memories = ids.reshape({count_of(batch), memories, -1}).to(device()),
                       .question = question.to(device()),
                       .memory_word_lens = lengths.reshape({count_of(batch), memories}),
                       .memory_lens = memory_lens(batch),
                       .question_lens = question_lens});
  return {looked.logits, looked.weights};
}

/// [rows of texts / rows, rows, features]; a text is the words it has, each once more by its
/// place, and when `times`, its place among the rows.
Tensor Reader::features(std::span<const Words* const> texts, std::int64_t rows,
                        bool times) const {
  const std::int64_t width = 2 * options_.vocabulary + options_.memories;
  std::vector<float> numbers(texts.size() * static_cast<std::size_t>(width), 0.0f);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    float* row = numbers.data() + i * static_cast<std::size_t>(width);
    const auto length = static_cast<float>(texts[i]->size());
    float place = 0.0f;
    for (const std::int64_t word : *texts[i]) {
      row[word] += 1.0f;
      row[options_.vocabulary + word] += (place += 1.0f) / length;
    }
    if (times) row[2 * options_.vocabulary + static_cast<std::int64_t>(i) % rows] = 1.0f;
  }
  return Tensor::from(numbers, {count_of(texts) / rows, rows, width}).to(device());
}

Reader::Result Reader::look_up(const nn::KeyValueMemory& facts,
                               std::span<const Memory> batch) const {
  const std::size_t most = most_sentences(batch);
  const Tensor memories =
      features(sentence_rows(batch, most), static_cast<std::int64_t>(most), true);
  const Tensor question = features(questions_of(batch), 1, false).squeeze(1);
  std::vector<Words> words;
  words.reserve(static_cast<std::size_t>(options_.vocabulary));
  std::vector<const Words*> candidates;
  candidates.reserve(words.capacity());
  for (std::int64_t id = 0; id < options_.vocabulary; ++id) words.push_back({id});
  for (const Words& one : words) candidates.push_back(&one);
  const nn::KeyValueMemoryResult found =
      facts.forward(question, memories, memories, features(candidates, 1, false).squeeze(1),
                    memory_lens(batch));
  return {found.logits, found.weights};
}

Reader::Result Reader::read(const Recurrent& layers, std::span<const Memory> batch) const {
  std::vector<Words> texts;
  for (const Memory& one : batch) {
    Words& text = texts.emplace_back();
    for (auto sentence = one.sentences.rbegin(); sentence != one.sentences.rend(); ++sentence)
      text.insert(text.end(), sentence->begin(), sentence->end());
    text.insert(text.end(), one.question.begin(), one.question.end());
  }
  std::vector<const Words*> rows;
  rows.reserve(texts.size());
  for (const Words& text : texts) rows.push_back(&text);
  const auto [ids, lengths] = padded(rows);
  const LstmResult run =
      layers.lstm(layers.words(ids.to(device())), {}, {}, lengths.to(device()));
  return {layers.answer(run.state.select(0, 0)), {}};
}

}  // namespace attn::tasks::remember
