/// Checkpoint: everything a training run needs to resume with the same losses.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "attn/nn/module.hpp"
#include "attn/tasks/scores.hpp"

namespace attn::tasks {

/// Where a run is.
struct TrainingState {
  std::int64_t steps = 0;
  std::int64_t epoch = 0;
  std::int64_t batch = 0;        ///< of the epoch, the next one
  std::uint64_t random_key = 0;  ///< of the stream that dropout draws from
  std::uint64_t random_drawn = 0;
  double loss_sum = 0.0;  ///< since the last line of the log
  std::int64_t loss_count = 0;
  std::int64_t tokens = 0;  ///< target tokens trained on
  double seconds = 0.0;     ///< of training, over all runs
  double processor_seconds = 0.0;
  Scores best;  ///< of the development part; empty before the first
  std::int64_t best_step = 0;
  std::int64_t without_better = 0;  ///< evaluations since
};

/// `what` tells what is trained, options and data: a checkpoint of something else is an error.
/// The file is replaced atomically; a full disk leaves the old one as it was.
/// With `shard_bytes` the arrays lie beside it, in files of at most so many bytes; those of the
/// checkpoint before are removed after the file is replaced.
void save_checkpoint(const std::filesystem::path& path, const TrainingState& state,
                     const std::string& what, const std::vector<nn::NamedTensor>& tensors,
                     std::uint64_t shard_bytes = 0);

/// Fills the tensors; names and shapes must be equal, and nothing is half-loaded. Counts that
/// no run can have are a FileError.
TrainingState load_checkpoint(const std::filesystem::path& path, const std::string& what,
                              const std::vector<nn::NamedTensor>& tensors);

/// A line for each member, by its path ("model.dim"), in which two JSON objects that tell what
/// was trained differ; each begins with a line break. Empty when they are equal.
std::string differences(const nlohmann::json& was, const nlohmann::json& is);

}  // namespace attn::tasks
