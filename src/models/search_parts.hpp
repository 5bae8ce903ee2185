/// What a search is made of: candidates for the next word, the steps so far, words drawn by
/// their probability, and the answer that most agree with.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <vector>

#include "attn/models/search.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models {

struct Candidate {
  double log_probability;  ///< of the whole hypothesis
  std::int64_t row;        ///< whose hypothesis goes on
  std::int64_t token;
};

/// The likeliest candidates of several rows, at most `most`, likeliest first; of equals the one
/// offered first.
class Candidates {
 public:
  explicit Candidates(std::int64_t most) : most_(most) {}

  /// Every token that may be said after `row`, whose hypothesis has `log_probability`; kPad and
  /// kBos are never said.
  void offer(std::int64_t row, double log_probability, std::span<const float> next);

  void offer(const Candidate& candidate);

  const std::vector<Candidate>& best() const { return best_; }

 private:
  std::int64_t most_;
  std::vector<Candidate> best_;
};

/// Hypotheses are paths back through the steps, so nothing of them is copied while they grow.
class History {
 public:
  /// A step reads one token a row, whose row in the step before was `parents`.
  void begin_step(std::vector<std::int64_t> tokens, std::vector<std::int64_t> parents);
  /// Where it looked, [rows, source]; none without attention.
  void end_step(const Tensor& weights);

  /// What the hypothesis has said that ends in a row of the newest step.
  std::vector<std::int64_t> tokens(std::int64_t row) const;
  /// That hypothesis with its weights.
  Hypothesis trace(std::int64_t row) const;

 private:
  struct Step {
    std::vector<std::int64_t> tokens;
    std::vector<std::int64_t> parents;
    Tensor weights;
  };
  std::vector<Step> steps_;
};

/// Where and how a token is drawn; the draw depends on seed, row and step alone.
struct Draw {
  double temperature;
  std::int64_t top;  ///< 0: all
  std::uint64_t seed;
  std::int64_t row;
  std::int64_t step;
};

/// Between 0 and 1, with 53 bits: a function of seed, row and step.
double fraction(const Draw& draw);

/// With probability proportional to P^(1 / temperature) among the likeliest; kPad and kBos are
/// never drawn.
std::int64_t drawn(std::span<const float> log_probabilities, const Draw& draw);

/// Puts those first that are most like the others: score_i = sum_j p_j likeness(i, j), where p
/// are the answers' probabilities, flattened to P^(1/2) and made to sum to one. Answers that
/// max_length cut off stay behind finished ones, and equals stay in order.
void order_by_consensus(std::vector<Hypothesis>& answers, const SearchOptions& options);

}  // namespace attn::models
