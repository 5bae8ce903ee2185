/// Readers: what looks at the memories of a question, and the LSTM that cannot.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/composed/key_value_memory.hpp"
#include "attn/nn/mechanisms/composed/memory_network.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks::remember {

using Words = std::vector<std::int64_t>;

/// A question and the sentences behind it, as numbers of the vocabulary.
struct Memory {
  std::vector<Words> sentences;  ///< the latest first; one without words is noise
  Words question;
};

/// Words of a sentence that are read; more are cut.
inline constexpr std::size_t kMostWords = 32;

struct ReaderOptions {
  std::string memory;  ///< "sentences", "key-value" or "none"
  std::string tying;   ///< "adjacent" or "layerwise", of sentences
  std::int64_t vocabulary = 0;
  std::int64_t dim = 0;
  std::int64_t hops = 0;
  std::int64_t memories = 0;  ///< sentences that are remembered
};

/// sentences: an end-to-end memory network. key-value: keys and values are the words of a
/// sentence, the same by their place in it, and its time. none: an LSTM reads the story, then
/// the question.
class Reader : public nn::Module {
 public:
  explicit Reader(const ReaderOptions& options);

  struct Result {
    Tensor logits;   ///< [batch, vocabulary]
    Tensor weights;  ///< [batch, hops, memories]; none without memory
  };
  /// `weights` is for the first steps of a training; see nn::MemoryWeights.
  Result operator()(std::span<const Memory> batch,
                    nn::MemoryWeights weights = nn::MemoryWeights::softmax) const;

 private:
  struct Recurrent {
    nn::Embedding words;
    nn::Lstm lstm;
    nn::Linear answer;
  };

  Result look(const nn::MemoryNetwork& network, std::span<const Memory> batch) const;
  Result look_up(const nn::KeyValueMemory& facts, std::span<const Memory> batch) const;
  Result read(const Recurrent& layers, std::span<const Memory> batch) const;
  Tensor features(std::span<const Words* const> texts, std::int64_t rows, bool times) const;

  ReaderOptions options_;
  // One of them.
  std::optional<nn::MemoryNetwork> sentences_;
  std::optional<nn::KeyValueMemory> facts_;
  std::optional<Recurrent> recurrent_;
};

}  // namespace attn::tasks::remember
