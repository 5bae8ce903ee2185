/// PairModel: a trained model with its tokenisers, as a model folder holds it, and what it
/// answers to texts.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/models/options.hpp"
#include "attn/models/search.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/calibration.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {

/// A folder holds config.json, source.vocab, target.vocab (unless it is the source's) and
/// model.safetensors, whose metadata name the checksums of the vocabularies; calibration.json
/// where it was calibrated.
struct PairModel {
  std::string task;
  models::ModelOptions options;
  Limits limits;
  text::Tokeniser source;
  text::Tokeniser target;
  std::shared_ptr<models::Seq2Seq> model;
  /// "it", "fr+de+es", "zh-en" (attn/tasks/languages.hpp); "": the model translates nothing, or
  /// learnt from a file of its user's.
  std::string language{};
  std::string history = "{}";  ///< how it was trained and what it scored, a JSON object
  /// What the model can tell of texts and answers; none until it is calibrated.
  std::shared_ptr<const Calibration> calibration{};
};

struct Vocabularies {
  text::Tokeniser source;
  text::Tokeniser target;
};
/// Those of a folder; one file holds both when they are shared.
Vocabularies read_vocabularies(const std::filesystem::path& folder, bool shared);
void write_vocabularies(const std::filesystem::path& folder, const PairModel& model);

/// Everything is checked before it is used: a damaged file, a vocabulary that is not the one
/// the weights were trained with, sizes that do not fit, weights that are not finite are a
/// FileError that names the file.
/// The model is in eval() and f32.
PairModel load_model(const std::filesystem::path& folder);

/// Each file is replaced atomically, the weights last.
void save_model(const std::filesystem::path& folder, const PairModel& model,
                DType dtype = DType::bf16);

/// The answers to each text, best first. Texts are read in batches of like length; a text that
/// is longer than the model reads is cut, an empty one has one empty answer. The tokens an
/// answer may have are the model's limit, whatever options.max_length says. A consensus is one
/// under the task's metric, unless options.likeness says how else. Of a calibrated model the
/// rules of the task hold on numbers and marks, in place of options.forbid and options.fault.
std::vector<std::vector<Answer>> answer(const PairModel& model,
                                        std::span<const std::string> texts,
                                        const models::SearchOptions& options,
                                        const Done& done = {});

/// "transformer", as flags name it.
std::string kind_of(const PairModel& model);

}  // namespace attn::tasks
