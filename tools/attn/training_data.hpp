/// Which data a training and a model learn from, and whether it is still the same.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/task.hpp"
#include "tools/attn/training_flags.hpp"

namespace attn::tools {

/// FileError, with `advice` behind it, where the file is another than the one that was learnt
/// from. `what` is TrainingRun::what.
void check_same_data(const nlohmann::json& what, const tasks::Corpus& corpus,
                     const std::string& advice);

/// The settings of what flags ask for alone, whatever a model learnt from.
nlohmann::json data_asked(const tasks::Task& task, const TrainingFlags& flags);

/// The settings of what a model is scored on: the data that flags name, else what it learnt
/// from itself. A model that learnt from a file which is not there is an error that asks for
/// --data.
nlohmann::json data_of_model(const std::filesystem::path& folder, const tasks::Model& model,
                             const TrainingFlags& flags);

}  // namespace attn::tools
