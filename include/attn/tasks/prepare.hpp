/// From a task and its corpus to a model that can be trained, and back again when a run goes
/// on.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/models/options.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/trainer.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {

/// What a run was asked to do, kept in its folder as training.json so that it can go on, and be
/// done again: that file is also what `attn train --config` reads.
struct TrainingRequest {
  std::string task;
  std::string language = "it";  ///< of translate
  std::filesystem::path data;   ///< a file of pairs of the user's own; empty: the task's data
  std::string data_checksum;    ///< SHA-256 of that file as it was learnt from; empty: unknown
  std::string source_column = "source";  ///< of that file, where it has names
  std::string target_column = "target";
  TokeniserPlan tokens;
  models::ModelOptions model;  ///< vocabularies are filled in
  TrainingOptions training;
  Limits limits;
  std::string command;  ///< that began it, for the card of the model
  /// Models whose mean weights come first; a run that goes on has them in its checkpoint.
  std::vector<std::filesystem::path> begin;
  Budget budget;
  // How it is run. Names are those that the flags take.
  std::string device = "cpu";
  std::string precision = "f32";
  std::int64_t save_every = 0;  ///< steps between checkpoints; 0: by the clock
  std::int64_t shard_mib = 0;   ///< of a checkpoint's files, at most; 0: one file
};

/// What the task itself would ask for.
TrainingRequest default_request(const PairTask& task);
/// The same for a task whose defaults follow from the data; data and language stay.
void suit_corpus(TrainingRequest& request, const Corpus& corpus);

/// Asks for a model like the first one, with its vocabularies, and to begin with its weights,
/// or with the mean of the weights of all: trained apart from one beginning, they are often
/// better together (Wortsman et al., 2022, arXiv:2203.05482).
void begin_with_models(TrainingRequest& request,
                       const std::vector<std::filesystem::path>& folders);

void save_request(const std::filesystem::path& folder, const TrainingRequest& request);
/// FileError when the folder has none, or a damaged one.
TrainingRequest load_request(const std::filesystem::path& folder);

/// All members of training.json by their paths: "data", "model.dim", "training.rate", ...
std::vector<std::string> request_members();
/// Those of an object that training.json does not have.
std::vector<std::string> unknown_members(const nlohmann::json& object);
/// Sets what the object holds, a part of training.json or all of it; the rest stays as it is.
/// FileError, which begins with `where`, for an unknown member or a value of another kind.
void read_request(const nlohmann::json& object, const std::string& where,
                  TrainingRequest& request);

/// Trains a subword vocabulary of a size; the program attn-vocabulary does it.
using LearnSubwords =
    std::function<text::Tokeniser(std::span<const std::string> lines, std::int64_t size)>;

/// The examples of a request, texts prepared as the task does.
Corpus load_corpus(const TrainingRequest& request, const Say& say);

/// A fresh model with its tokenisers, or with those that lie in the folder of a run that goes
/// on, and everything encoded. The plan's budget and watch are the caller's.
struct Prepared {
  PairModel model;
  TrainingPlan plan;
  std::int64_t dropped = 0;  ///< pairs that were too long
};
Prepared prepare(const TrainingRequest& request, const Corpus& corpus,
                 const std::filesystem::path& folder, Resume resume,
                 const LearnSubwords& learn_subwords, const Say& say);

/// Sets one training option by the name of its flag ("batch-tokens", "rate", ...).
void set_training_option(TrainingOptions& options, std::string_view name,
                         std::string_view value);

/// All of them as a JSON object under those names.
std::string to_json(const TrainingOptions& options);

struct TrainingFlag {
  std::string name;
  std::string help;
};
/// All of them, in the order of a help text.
const std::vector<TrainingFlag>& training_flags();

text::Units units_named(std::string_view name);
std::string name_of(text::Units units);

}  // namespace attn::tasks
