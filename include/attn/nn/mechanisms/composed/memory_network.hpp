/// End-to-end memory network: a question looks several times at sentences it remembers.
/// Sukhbaatar, Szlam, Weston and Fergus, 2015, arXiv:1503.08895.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"

namespace attn::nn {

/// adjacent: hop k uses tables E.k and E.(k + 1), the question E.0, the answer E.K; u = u + o.
/// layerwise: one A and one C, the question B, the answer W; u = H u + o.
enum class MemoryTying { adjacent, layerwise };

/// How the words of a sentence are added up: all alike, or with
/// l_kj = (1 - j / J) - (k / d) (1 - 2 j / J), j and k from 1, J the sentence's own length.
enum class WordOrder { bag, position };

/// How scores become weights; `linear` (p = u . m) is for the first epochs of training.
enum class MemoryWeights { softmax, linear };

struct MemoryNetworkOptions {
  std::int64_t vocab_size;
  std::int64_t dim;
  std::int64_t hops = 3;
  MemoryTying tying = MemoryTying::adjacent;
  WordOrder order = WordOrder::position;
  std::int64_t temporal_rows = 0;  ///< of the temporal tables; 0: none
  MemoryWeights weights = MemoryWeights::softmax;
};

/// Ids i64; past a length they may be anything. Row i of the temporal table belongs to memory
/// i: put the latest sentence first.
struct MemoryNetworkInputs {
  Tensor memories;            ///< [batch, memories, words]
  Tensor question;            ///< [batch, question words]
  Tensor memory_word_lens{};  ///< [batch, memories], or none
  Tensor memory_lens{};       ///< [batch], or none
  Tensor question_lens{};     ///< [batch], or none
};

struct MemoryNetworkResult {
  Tensor weights;  ///< [batch, hops, memories]
  Tensor u;        ///< [batch, dim]
  Tensor logits;   ///< [batch, vocab_size]
};

/// m_i = sum_j l_j * A[x_ij] (+ T_A[i]), c_i likewise with C, p = softmax(u . m_i), o = sum of
/// p_i c_i. Without memories o is 0.
class MemoryNetwork : public Module {
 public:
  explicit MemoryNetwork(const MemoryNetworkOptions& options);

  MemoryNetworkResult forward(const MemoryNetworkInputs& in) const;

  /// Linear start: begin with `linear`, go on with `softmax` when the loss stops falling.
  void set_weights(MemoryWeights weights) { options_.weights = weights; }

 private:
  /// A table of words and, if there is one, of times.
  struct Tables {
    Embedding words;
    std::optional<Embedding> times;
  };

  Tables add_tables(const std::string& words, const std::string& times);
  Tensor encoded(const Embedding& words, const Tensor& ids, const Tensor& lengths) const;
  Tensor remembered(const Tables& tables, const MemoryNetworkInputs& in) const;

  MemoryNetworkOptions options_;
  std::vector<Tables> tables_;         ///< E.0 ... E.K, or A and C
  std::optional<Embedding> question_;  ///< B, of layerwise
  std::optional<Linear> hop_;          ///< H
  std::optional<Linear> answer_;       ///< W
};

}  // namespace attn::nn
