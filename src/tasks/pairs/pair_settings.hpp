/// PairSettings: what a training on pairs of texts can be told, in training.json and by flags.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "attn/models/options.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/task.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {

struct PairSettings {
  std::string language = "it";  ///< of translate
  std::filesystem::path data;   ///< a file of pairs of the user's own; empty: the task's data
  std::string data_checksum;    ///< SHA-256 of that file as it was learnt from; empty: unknown
  std::string source_column = "source";  ///< of that file, where it has names
  std::string target_column = "target";
  TokeniserPlan tokens;
  models::ModelOptions model;  ///< vocabularies are filled in
  Limits limits;
};

nlohmann::json json_of(const PairSettings& settings);
/// Sets what the object holds. FileError, which begins with `where`, for what does not fit.
void read_settings(const nlohmann::json& object, const std::string& where,
                   PairSettings& settings);
PairSettings pair_settings(const nlohmann::json& what);

/// Their flags.
std::vector<Setting> pair_flags();

/// The examples, texts prepared as the task does.
Corpus load_corpus(const PairTask& task, const PairSettings& settings, const Say& say);

/// Which data a model in a folder learnt from: as training.json tells, or its card where no
/// other file is named.
void read_data_of(const std::filesystem::path& folder, const PairModel& model, bool named,
                  PairSettings& settings);

text::Units units_named(std::string_view name);
std::string name_of(text::Units units);

}  // namespace attn::tasks
