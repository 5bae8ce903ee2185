/// The likeliest ways on of the hypotheses of one source.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <vector>

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

  const std::vector<Candidate>& best() const { return best_; }

 private:
  void insert(const Candidate& candidate);

  std::int64_t most_;
  std::vector<Candidate> best_;
};

}  // namespace attn::models
