/// The likeliest tokens of a sound: a beam whose hypotheses are scored by the speller and by
/// the alignments of CTC at once. Watanabe et al., 2017, "Hybrid CTC/attention architecture".

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep
#include "attn/tensor/tensor.hpp"
#include "tasks/las/listener.hpp"

namespace attn::tasks::las {

using Tokens = std::vector<std::int64_t>;

/// log p of all transcripts that begin with given tokens, summed over the alignments of CTC.
class PrefixScorer {
 public:
  /// Log-probabilities [frames, classes].
  PrefixScorer(std::vector<double> log_probs, std::int64_t frames, std::int64_t blank);

  /// What is known of some tokens.
  struct Prefix {
    std::int64_t count = 0;
    std::int64_t last = -1;
    std::vector<double>
        spoken;  ///< log p of the frames up to each, which end with the last token
    std::vector<double> silent;  ///< and which end with a blank
    double score = 0.0;          ///< log p of everything that begins so
  };
  Prefix empty() const;
  /// One token more.
  Prefix extended(const Prefix& prefix, std::int64_t token) const;
  /// log p of just these tokens.
  double whole(const Prefix& prefix) const;

 private:
  double at(std::int64_t frame, std::int64_t token) const;

  std::vector<double> log_probs_;
  std::int64_t frames_;
  std::int64_t classes_;
  std::int64_t blank_;
};

struct SearchHow {
  std::int64_t beam = 8;
  double ctc = 0.4;        ///< the share of CTC in a score; 1: without the speller
  std::int64_t first = 0;  ///< tokens below are no output
  std::int64_t end = 0;    ///< what the speller writes behind the last
};

struct Spelt {
  Tokens tokens;
  double score = 0.0;
  std::vector<float> weights;  ///< [tokens + 1, frames], the last row of the end; or empty
  bool finished = false;
};

/// The best `count` of a search, best first; one at least. `heard` is [1, frames, channels] of
/// the listener, and `speller` may be missing where `how.ctc` is 1. Off the tape.
std::vector<Spelt> search(const Speller* speller, const Tensor& heard,
                          const PrefixScorer& scorer, const SearchHow& how,
                          std::int64_t classes, std::size_t count);

}  // namespace attn::tasks::las
