/// Which data a training or a score is of: known by path and checksum, and told.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/prepare.hpp"
#include "tools/attn/training_flags.hpp"

namespace attn::tools {

/// FileError, with `advice` behind it, where the file is another than the one that was learnt
/// from.
void check_same_data(const tasks::TrainingRequest& request, const tasks::Corpus& corpus,
                     const std::string& advice);

/// What a model is scored on: the data that flags name, else what it learnt from itself. A
/// model that learnt from a file which is not there, or changed, is an error that asks for
/// --data.
tasks::TrainingRequest data_of_model(const std::filesystem::path& folder,
                                     const tasks::PairModel& model, const TrainingFlags& flags);

}  // namespace attn::tools
