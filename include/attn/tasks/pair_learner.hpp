/// Training on pairs of texts, and how its models are judged.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attn/models/search.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"

namespace attn::tasks {

/// What a model of text pairs learns from.
struct PairLessons {
  std::vector<EncodedPair> train;
  std::vector<Example> development;
  Metric metric = Metric::bleu;
  std::string identity;      ///< a checkpoint of something else is refused
  std::string data = "{}";   ///< for the card of the model: a JSON object
  std::int64_t dropped = 0;  ///< pairs that were too long
};

/// Trains model.model, which outlives it.
std::unique_ptr<Learner> pair_learner(PairModel& model, PairLessons lessons,
                                      const TrainingOptions& how);
/// The learner of a task's run, with a fresh model and its tokenisers, or with those that lie
/// in the folder of a run that is resumed.
std::unique_ptr<Learner> pair_learner(const PairTask& task, const TrainingRun& run,
                                      const Corpus& corpus, const TrainingTools& tools);

/// A model to begin a training of `task` with.
PairModel beginning_of(const std::string& task, const std::filesystem::path& folder);

/// `most` examples at most, spread evenly over all: parts are often sorted.
std::vector<Example> spread(const std::vector<Example>& all, std::int64_t most);

/// The answers of the model to the examples, judged.
Scores evaluate(const PairModel& model, std::span<const Example> examples, Metric metric,
                const models::SearchOptions& options);

}  // namespace attn::tasks
