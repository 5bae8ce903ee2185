/// Calibration: what the development part of a model's data tells of texts and answers, so that
/// a text unlike anything learnt is told and answers invent and lose nothing.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

struct PairModel;

/// The words of a text, to be counted: small letters without punctuation, apostrophes inside
/// words kept ("don't"); each run of digits is "0".
std::vector<std::string> counted_words(std::string_view text);

/// Which words a kind of text has more often than everyday English: log-ratios of how common
/// they are in both. The score of a text is their sum over the square root of its words; words
/// that are in neither list count 0.
struct WordProfile {
  std::unordered_map<std::string, float> weights;
  double least = 0.0;  ///< a text below it is unlike

  double score(std::string_view text) const;
};

struct Calibration {
  /// The largest share of a text that the vocabulary does not hold.
  double unknown = 1.0;
  /// The largest share of a text that is symbols, such as code has.
  double symbols = 1.0;
  /// The least log-probability of an answer's token, on average.
  double log_probability = -std::numeric_limits<double>::infinity();
  /// None for a model that reads characters.
  std::optional<WordProfile> words{};
  /// Whether numbers of right answers stand in their texts.
  bool copies_numbers = false;
  /// Whether they do where the text has a number in digits; where it has none, its words may
  /// become one, as in Chinese.
  bool copies_digits = false;
  /// Marks of the task that right answers have only where their texts do.
  std::string copied_marks{};

  /// Whether a text is unlike what the model learnt from. The log-probability is the mean of a
  /// token of the best answer; none for one that was steered or drawn.
  bool is_unfamiliar(std::string_view text, double unknown_share,
                     std::optional<double> log_probability_of_token) const;
};

/// Words are counted in corpus.train and held against English of another kind (data/everyday);
/// thresholds come from the answers to corpus.development. InvalidArgument for an empty part.
Calibration calibrate(const PairModel& model, const Corpus& corpus, const Done& done = {});

/// calibration.json in the model's folder, bound to its weights by a checksum.
void save_calibration(const std::filesystem::path& folder, const PairModel& model,
                      const Calibration& calibration);
/// None where the folder has no such file; a FileError for one that is damaged or of other
/// weights.
std::optional<Calibration> load_calibration(const std::filesystem::path& folder,
                                            const PairModel& model);

}  // namespace attn::tasks
