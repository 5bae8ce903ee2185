/// Search: from log-probabilities to hypotheses. Greedy, beam and sampled, in batches.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "attn/models/seq2seq.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models {

/// Which of the answers that a search found comes first.
enum class Choice {
  likeliest,
  /// The one most like all others, likely ones counting for more: what many answers say in
  /// other words is seldom wrong. Minimum Bayes risk; Kumar and Byrne, 2004.
  consensus,
};

struct SearchOptions {
  std::int64_t beam = 1;  ///< 1: greedy
  std::int64_t best = 1;  ///< answers of each source, at most `beam`
  /// A hypothesis of n tokens scores log P / ((5 + n) / 6)^length_penalty. Wu et al., 2016,
  /// arXiv:1609.08144.
  double length_penalty = 0.6;
  std::int64_t max_length = 64;  ///< tokens, without kEos
  /// So many tokens in a row are not repeated in one answer (Paulus et al., 2018,
  /// arXiv:1705.04304); 0: they may be.
  std::int64_t no_repeat = 0;
  Choice choice = Choice::likeliest;
  /// For a consensus: how like the first is to the second, 1 at most. None: twice their longest
  /// common subsequence over their lengths. Called from several threads.
  std::function<double(const std::vector<std::int64_t>&, const std::vector<std::int64_t>&)>
      likeness{};
  double temperature = 0.0;  ///< above 0: tokens are sampled; beam must be 1
  std::int64_t top = 0;      ///< samples from so many likeliest tokens; 0: from all
  std::uint64_t seed = 1;    ///< random seed for sampling
  Steering steering{};       ///< changes of the attention
  bool weights = true;       ///< hypotheses have them; without, decoding may be faster
  /// What the answer to a source (its place in the batch) must not say next, behind what it has
  /// said: its log-probability becomes -inf. Something must stay. Called from several threads.
  std::function<void(std::int64_t source, std::span<const std::int64_t> said,
                     std::span<float> log_probabilities)>
      forbid{};
  /// What is taken off the score of a finished answer, 0 or more. Called from several threads.
  std::function<double(std::int64_t source, std::span<const std::int64_t> said)> fault{};
};

struct Hypothesis {
  std::vector<std::int64_t> tokens;  ///< without kBos and kEos
  double score = 0.0;                ///< as ranked; of a consensus, the agreement, at most 1
  double log_probability = 0.0;
  /// [tokens + 1, source], row-major, the last row belongs to kEos; empty without attention or
  /// where they are not wanted.
  std::vector<float> weights;
  bool finished = false;  ///< met kEos before max_length
};

/// The answers of each source, best first; more of them change none of the first, so that one
/// found late may score above one before it. Those that max_length cut off make up for missing
/// finished ones and come behind them. A source is done when a beam of answers has ended, or
/// when nothing that goes on can still be among the best. kPad and kBos are never said, equals
/// are taken in index order, and rows of a batch do not change each other. Many sources are
/// searched in parts, on several threads, which all call model.decode(). Call model.eval()
/// before.
std::vector<std::vector<Hypothesis>> search(const Seq2Seq& model, const Tensor& source,
                                            const Tensor& lengths,
                                            const SearchOptions& options);

}  // namespace attn::models
