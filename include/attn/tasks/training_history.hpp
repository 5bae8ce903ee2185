/// The log of a training run read back, for pictures and pages.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"

namespace attn::tasks {

struct TrainingHistory {
  struct Loss {
    std::int64_t step = 0;
    double loss = 0.0;  ///< mean since the point before
  };
  struct Evaluation {
    std::int64_t step = 0;
    Scores scores;  ///< of the development part, the one that chooses first
  };
  struct Sample {
    std::string source;
    std::string answer;
    std::string target;
  };

  std::string name;  ///< of the run's folder
  std::vector<Loss> losses;
  std::vector<Evaluation> evaluations;
  std::vector<Sample> samples;  ///< of the last evaluation
  Budget budget;                ///< of the last run
  std::string end;  ///< why that ended, as name_of(TrainingEnd); empty: it runs or was killed
  std::int64_t step = 0;
  std::int64_t epoch = 0;
  double tokens_per_second = 0.0;
  double seconds = 0.0;  ///< of training, over all runs
  double left = -1.0;    ///< seconds until the budget ends; negative: unknown
  bool begun = false;    ///< whether there is a log

  /// Of the evaluations; none before the first.
  std::optional<std::size_t> best() const;
};

/// Of a folder of a training, or of its log.jsonl. A folder without a log has not begun; a line
/// that is being written is left out; a file that is no log is a FileError.
TrainingHistory read_history(const std::filesystem::path& run);

/// Losses on the left, the score that chooses on the right, the best step of each run marked.
maps::Training training_map(std::span<const TrainingHistory> runs);

}  // namespace attn::tasks
