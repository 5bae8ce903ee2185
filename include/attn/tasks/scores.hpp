/// How answers are judged: the metric of a task as named numbers, and whether the numbers of a
/// text are in its answer.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::tasks {

enum class Metric {
  phones,  ///< phone error rate against the nearest variant, and share of wrong words
  bleu,    ///< BLEU and chrF
  rouge,   ///< ROUGE-1, -2 and -L
  exact,   ///< character error rate against the nearest right answer, and share of exact ones
};

/// The score that chooses between models: "PER", "BLEU", "ROUGE-L", "CER".
std::string name_of(Metric metric);

struct NamedScore {
  std::string name;  ///< "PER", "BLEU", ...
  double value;      ///< of 100
};

/// The first is the one that chooses between models.
using Scores = std::vector<NamedScore>;

/// One answer for each example; `references` holds all right answers of each.
Scores score(Metric metric, std::span<const std::string> answers,
             std::span<const std::vector<std::string>> references);

/// Of one answer alone, 1 at best. BLEU of a sentence is mostly 0: chrF stands for it.
double sentence_score(Metric metric, const std::string& answer, const std::string& reference);

/// Whether a score of that name counts errors, so that less is better.
bool counts_errors(std::string_view name);

/// Whether the first score of `a` is better than that of `b`.
bool better(const Scores& a, const Scores& b);

/// {"PER": 7.12, "WER": 30.4}.
nlohmann::json json_of(const Scores& scores);

/// "PER 7.12, WER 30.40".
std::string text_of(const Scores& scores);

/// The runs of digits of a text, in order.
std::vector<std::string> numbers_of(std::string_view text);

struct NumberCounts {
  std::size_t in_texts = 0;
  std::size_t kept = 0;  ///< in the text and in its answer, each as often as it is in both
  std::size_t in_answers = 0;
  std::size_t invented = 0;  ///< in an answer and nowhere in its text
};

struct NameCounts {
  std::size_t shared = 0;  ///< in a text and in a right answer to it
  std::size_t kept = 0;    ///< of those, in the answer
};

/// Words of three letters or more with a capital, which stand in a text and in a right answer
/// unchanged: names mostly. One answer for each text.
NameCounts count_names(std::span<const std::string> texts,
                       std::span<const std::vector<std::string>> references,
                       std::span<const std::string> answers);

/// One answer for each text.
NumberCounts count_numbers(std::span<const std::string> texts,
                           std::span<const std::string> answers);

}  // namespace attn::tasks
