// SPDX-License-Identifier: Apache-2.0

#include "attn/text/metrics/rouge.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/text/metrics/references.hpp"
#include "attn/text/unicode.hpp"
#include "text/metrics/alignment.hpp"
#include "text/metrics/ngrams.hpp"

namespace attn::text {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::exchange(word, {}));
  };
  for (const char c : lower(text)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      word += c;
    else
      end_word();
  }
  end_word();
  return words;
}

Overlap overlap(std::int64_t hits, std::int64_t answered, std::int64_t wanted) {
  if (hits == 0) return {};
  const double precision = static_cast<double>(hits) / static_cast<double>(answered);
  const double recall = static_cast<double>(hits) / static_cast<double>(wanted);
  return {precision, recall, 2.0 * precision * recall / (precision + recall)};
}

Overlap ngram_overlap(std::u32string_view a, std::u32string_view b, std::size_t n) {
  return overlap(common(count_ngrams(a, n), count_ngrams(b, n)), ngrams_in(a, n),
                 ngrams_in(b, n));
}

Rouge rouge_of(std::u32string_view answer, std::u32string_view wanted) {
  return {ngram_overlap(answer, wanted, 1), ngram_overlap(answer, wanted, 2),
          overlap(common_subsequence(answer, wanted), static_cast<std::int64_t>(answer.size()),
                  static_cast<std::int64_t>(wanted.size()))};
}

void add(Overlap& sum, const Overlap& one, double weight) {
  sum.precision += weight * one.precision;
  sum.recall += weight * one.recall;
  sum.f1 += weight * one.f1;
}

}  // namespace

Rouge sentence_rouge(const std::string& hypothesis,
                     const std::vector<std::string>& references) {
  if (references.empty()) fail("attn::text::sentence_rouge: there is no reference");
  WordNumbers words;
  const std::u32string answer = words.number(words_of(hypothesis));
  Rouge best;
  for (std::size_t i = 0; i < references.size(); ++i) {
    const Rouge rouge = rouge_of(answer, words.number(words_of(references[i])));
    if (i == 0 || rouge.rouge1.f1 > best.rouge1.f1) best = rouge;
  }
  return best;
}

Rouge corpus_rouge(Hypotheses hypotheses, References references) {
  check_references(hypotheses, references, "attn::text::corpus_rouge");
  Rouge mean;
  const double weight = 1.0 / static_cast<double>(hypotheses.size());
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const Rouge one = sentence_rouge(hypotheses[i], references[i]);
    add(mean.rouge1, one.rouge1, weight);
    add(mean.rouge2, one.rouge2, weight);
    add(mean.rouge_l, one.rouge_l, weight);
  }
  return mean;
}

}  // namespace attn::text
