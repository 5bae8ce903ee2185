/// Calibrating a model on the data it learnt from, and the file that keeps what came of it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <optional>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/calibration.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_model.hpp"

namespace attn::tasks {

/// Words are counted in corpus.train and held against everyday English (data/everyday);
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
