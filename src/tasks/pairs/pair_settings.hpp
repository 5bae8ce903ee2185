/// PairSettings: what a training on pairs of texts can be told, in training.json and by flags.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "attn/models/options.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {

struct PairSettings {
  std::string language = "it";  ///< of translate
  std::string texts = "all";    ///< of translate: kinds of text
  std::filesystem::path data;   ///< a file of pairs of the user's own; empty: the task's data
  std::string data_checksum;    ///< SHA-256 of that file as it was learnt from; empty: unknown
  std::string source_column = "source";  ///< of that file, where it has names
  std::string target_column = "target";
  TokeniserPlan tokens;
  models::ModelOptions model;  ///< vocabularies are filled in
  Limits limits;
};

PairSettings pair_settings(const nlohmann::json& what);

std::string name_of(text::Units units);

}  // namespace attn::tasks
