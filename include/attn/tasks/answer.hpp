/// Answers of a trained model to texts, with what it looked at.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attn/models/search.hpp"
#include "attn/tasks/pair_model.hpp"

namespace attn::tasks {

struct Answer {
  std::string text;
  double score = 0.0;  ///< as the search ranked it
  double log_probability = 0.0;
  bool finished = false;             ///< false: it was cut at the longest length
  std::vector<std::int64_t> source;  ///< tokens it read, eos included
  std::vector<std::int64_t> target;  ///< tokens it wrote
  std::vector<float> weights;        ///< [target + 1, source]; empty without attention
};

/// Called now and then with how many texts are done.
using Done = std::function<void(std::int64_t)>;

/// The answers to each text, best first. Texts are read in batches of like length; a text that
/// is longer than the model reads is cut, an empty one has one empty answer. The tokens an
/// answer may have are the model's limit, whatever options.max_length says. A consensus is one
/// under the task's metric, unless options.likeness says how else. Of a calibrated model the
/// rules of the task hold on numbers and marks, in place of options.forbid and options.fault.
std::vector<std::vector<Answer>> answer(const PairModel& model,
                                        std::span<const std::string> texts,
                                        const models::SearchOptions& options,
                                        const Done& done = {});

}  // namespace attn::tasks
