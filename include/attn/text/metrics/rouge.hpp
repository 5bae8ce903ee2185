/// ROUGE-1, ROUGE-2 and ROUGE-L: words, pairs of words and longest common subsequence.
/// Lin, 2004; the numbers of torchmetrics 1.9 without stemming.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "attn/text/metrics/references.hpp"

namespace attn::text {

struct Overlap {
  double precision = 0.0;
  double recall = 0.0;
  double f1 = 0.0;
};

/// Fractions, 0 to 1.
struct Rouge {
  Overlap rouge1;
  Overlap rouge2;
  Overlap rouge_l;
};

/// The mean over all lines. Text is lowered, and only a to z and 0 to 9 make words. Of several
/// references the one with the best ROUGE-1 counts, the first of equals.
Rouge corpus_rouge(Hypotheses hypotheses, References references);
Rouge sentence_rouge(const std::string& hypothesis, const std::vector<std::string>& references);

}  // namespace attn::text
