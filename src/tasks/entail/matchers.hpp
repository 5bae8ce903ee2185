/// Matchers: three ways in which a hypothesis meets its premise, and one that never sees it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks::entail {

/// A batch of premises, or of hypotheses.
struct Side {
  Tensor words;    ///< [batch, words, in]
  Tensor lengths;  ///< i64 [batch]
};

struct Match {
  Tensor features;  ///< [batch, size()]
  Tensor weights;   ///< [batch, hypothesis, premise]; not defined unless wanted
};

struct MatcherOptions {
  std::int64_t in = 0;
  std::int64_t hidden = 0;
  double dropout = 0.0;
};

class Matcher : public nn::Module {
 public:
  virtual ~Matcher() = default;
  virtual Match forward(const Side& premise, const Side& hypothesis,
                        const Want& want) const = 0;
  virtual std::int64_t size() const = 0;
};

/// The names of all, the default first; the last one is the baseline.
const std::vector<std::string>& matchings();

/// "both-ways": Chen et al., 2017, arXiv:1609.06038, with GRUs in the place of LSTMs;
/// "word-by-word": Rocktaeschel et al., 2016, arXiv:1509.06664; "decomposable": Parikh et al.,
/// 2016, arXiv:1606.01933, with attention inside each sentence; "none": the hypothesis alone.
std::unique_ptr<Matcher> matcher_named(const std::string& name, const MatcherOptions& options);

}  // namespace attn::tasks::entail
