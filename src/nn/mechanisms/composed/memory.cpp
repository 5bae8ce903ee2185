// Networks that look several times at what they remember.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/composed/key_value_memory.hpp"
#include "attn/nn/mechanisms/composed/memory_network.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tape.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

/// A table that begins as the paper says: N(0, 0.1^2).
Embedding small_table(std::int64_t rows, std::int64_t dim) {
  Embedding table({.rows = rows, .features = dim});
  const NoGrad off_the_tape;
  Tensor weight = table.weight();
  weight.copy_from(normal(weight.shape(), 0.0, 0.1, random()));
  return table;
}

/// The position encoding is l_kj = a_j - (k / d) b_j, so a sentence needs two weighted sums of
/// its words and no weight for each feature. [sentences, 2, words]: a and b, 0 past the length.
/// In a bag a is 1 and b is left out.
Tensor word_factors(const std::vector<std::int64_t>& lengths, std::int64_t words,
                    WordOrder order) {
  const auto sentences = static_cast<std::int64_t>(lengths.size());
  const std::int64_t rows = order == WordOrder::bag ? 1 : 2;
  std::vector<double> factors(static_cast<std::size_t>(sentences * rows * words), 0.0);
  for (std::int64_t s = 0; s < sentences; ++s) {
    const std::int64_t length = lengths[static_cast<std::size_t>(s)];
    double* a = factors.data() + s * rows * words;
    for (std::int64_t j = 0; j < length; ++j) {
      const double place = static_cast<double>(j + 1) / static_cast<double>(length);
      a[j] = order == WordOrder::bag ? 1.0 : 1.0 - place;
      if (order == WordOrder::position) a[words + j] = 1.0 - 2.0 * place;
    }
  }
  return Tensor::from(factors, {sentences, rows, words});
}

/// The words of each memory, [batch, memories]: none of a memory that does not count, whatever
/// its ids.
Tensor word_lens_of(const MemoryNetworkInputs& in) {
  const Tensor& words = in.memory_word_lens;
  if (!in.memory_lens.defined()) return words;
  const std::int64_t batch = in.memories.size(0);
  const std::int64_t memories = in.memories.size(1);
  const Tensor counts = padding::first_places(in.memory_lens, memories, Device::cpu);
  return padding::keep_numbers(
      words.defined() ? words.to(Device::cpu)
                      : Tensor::full({batch, memories},
                                     static_cast<double>(in.memories.size(2)), DType::i64),
      counts, 0);
}

/// k / d for k = 1 ... d.
Tensor feature_places(std::int64_t dim) {
  return affine(Tensor::arange(dim, DType::f64), 1.0 / static_cast<double>(dim),
                1.0 / static_cast<double>(dim));
}

}  // namespace

MemoryNetwork::Tables MemoryNetwork::add_tables(const std::string& words,
                                                const std::string& times) {
  Tables tables{add(words, small_table(options_.vocab_size, options_.dim)), {}};
  if (options_.temporal_rows > 0)
    tables.times = add(times, small_table(options_.temporal_rows, options_.dim));
  return tables;
}

MemoryNetwork::MemoryNetwork(const MemoryNetworkOptions& options) : options_(options) {
  if (options.hops < 1)
    fail("attn::nn::MemoryNetwork: ", options.hops, " hops; at least 1 is accepted");
  if (options.tying == MemoryTying::adjacent) {
    for (std::int64_t k = 0; k <= options.hops; ++k)
      tables_.push_back(add_tables("E." + std::to_string(k), "T." + std::to_string(k)));
    return;
  }
  tables_.push_back(add_tables("A", "T_A"));
  tables_.push_back(add_tables("C", "T_C"));
  question_ = add("B", small_table(options.vocab_size, options.dim));
  hop_ = add("H", without_bias(options.dim, options.dim));
  answer_ = add("W", without_bias(options.dim, options.vocab_size));
}

/// ids [..., words] -> [..., dim].
Tensor MemoryNetwork::encoded(const Embedding& words, const Tensor& ids,
                              const Tensor& lengths) const {
  Shape shape = ids.shape();
  const std::int64_t count = shape[-1];
  const std::int64_t sentences = count == 0 ? 0 : ids.numel() / count;
  shape[shape.rank() - 1] = options_.dim;
  const Tensor& weight = words.weight();
  if (count == 0) return Tensor::zeros(shape, weight.dtype(), weight.device());
  const std::vector<std::int64_t> own =
      lengths.defined() ? lengths.to_vector<std::int64_t>()
                        : std::vector<std::int64_t>(static_cast<std::size_t>(sentences), count);
  const Tensor vectors =
      words(padding::zero_ids_past(ids, lengths).reshape({sentences, count}));
  const auto beside = [&](const Tensor& x) {
    return x.to(vectors.dtype()).to(vectors.device());
  };
  const Tensor sums = matmul(beside(word_factors(own, count, options_.order)), vectors);
  if (options_.order == WordOrder::bag) return sums.reshape(shape);
  const Tensor placed =
      sums.select(1, 0) - beside(feature_places(options_.dim)) * sums.select(1, 1);
  return placed.reshape(shape);
}

Tensor MemoryNetwork::remembered(const Tables& tables, const MemoryNetworkInputs& in) const {
  Tensor vectors = encoded(tables.words, in.memories, word_lens_of(in));
  if (!tables.times) return vectors;
  const std::int64_t memories = in.memories.size(1);
  if (memories > options_.temporal_rows)
    fail("attn::nn::MemoryNetwork: ", memories, " memories and ", options_.temporal_rows,
         " temporal rows; at most as many memories as rows are accepted");
  return vectors + tables.times->weight().slice(0, 0, memories);
}

MemoryNetworkResult MemoryNetwork::forward(const MemoryNetworkInputs& in) const {
  if (in.memories.rank() != 3 || in.question.rank() != 2)
    fail("attn::nn::MemoryNetwork: memories ", in.memories.text(), " and question ",
         in.question.text(), "; i64 [batch, memories, words] and [batch, words] are accepted");
  const bool adjacent = options_.tying == MemoryTying::adjacent;
  // A hop's output memory is the next one's input memory: each table is read once.
  std::vector<Tensor> memory;
  memory.reserve(tables_.size());
  for (const Tables& tables : tables_) memory.push_back(remembered(tables, in));
  Tensor u = encoded(adjacent ? tables_[0].words : *question_, in.question, in.question_lens);
  const auto normaliser =
      options_.weights == MemoryWeights::linear ? spec::identity() : spec::softmax();
  std::vector<Tensor> weights;
  for (std::int64_t k = 0; k < options_.hops; ++k) {
    const auto from = static_cast<std::size_t>(adjacent ? k : 0);
    const Attended looked =
        attend(u.unsqueeze(1), memory[from], memory[from + 1], spec::dot(),
               padding::keys(in.memory_lens), normaliser, Want::output | Want::weights);
    u = (adjacent ? u : (*hop_)(u)) + looked.output.squeeze(1);
    weights.push_back(looked.weights);
  }
  const Tensor logits = adjacent ? linear(u, tables_.back().words.weight()) : (*answer_)(u);
  return {concat(weights, 1), u, logits};
}

KeyValueMemory::KeyValueMemory(const KeyValueMemoryOptions& options)
    : a_(add("A", without_bias(options.features, options.dim))) {
  if (options.hops < 1)
    fail("attn::nn::KeyValueMemory: ", options.hops, " hops; at least 1 is accepted");
  for (std::int64_t hop = 0; hop < options.hops; ++hop)
    r_.push_back(add("R." + std::to_string(hop), without_bias(options.dim, options.dim)));
  if (options.answers == AnswerMatrix::own)
    b_ = add("B", without_bias(options.features, options.dim));
}

KeyValueMemoryResult KeyValueMemory::forward(const Tensor& query, const Tensor& keys,
                                             const Tensor& values, const Tensor& candidates,
                                             const Tensor& lengths) const {
  if (query.rank() != 2 || candidates.rank() != 2)
    fail("attn::nn::KeyValueMemory: query ", query.text(), " and candidates ",
         candidates.text(), "; [batch, features] and [candidates, features] are accepted");
  const Tensor k = a_(padding::zero_past(keys, lengths));
  const Tensor v = a_(padding::zero_past(values, lengths));
  Tensor q = a_(query);
  std::vector<Tensor> weights;
  for (const Linear& r : r_) {
    const Attended looked = attend(q.unsqueeze(1), k, v, spec::dot(), padding::keys(lengths),
                                   spec::softmax(), Want::output | Want::weights);
    q = r(q + looked.output.squeeze(1));
    weights.push_back(looked.weights);
  }
  const Linear& answers = b_ ? *b_ : a_;
  return {concat(weights, 1), q, linear(q, answers(candidates))};
}

}  // namespace attn::nn
