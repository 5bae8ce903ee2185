/// What the folders of all models have in common: config.json, finite weights, and a training
/// that begins with them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "attn/nn/module.hpp"

namespace attn::tasks {

inline constexpr const char* kConfig = "config.json";
inline constexpr const char* kWeights = "model.safetensors";

/// config.json of a folder. FileError where there is none, which says that `command` makes one;
/// Unsupported, with the kind of model, for a folder of Hugging Face's transformers, which
/// users take for one of ours.
nlohmann::json read_config(const std::filesystem::path& folder, const char* command);

inline constexpr int kFolderFormat = 1;
/// FileError unless the folder is of that format.
void check_format(const nlohmann::json& config, const std::string& where);

/// How the model was trained, a JSON object.
std::string history_in(const nlohmann::json& config);

/// A FileError that names `path`, the file they came from, when a parameter is not finite: a
/// model with such weights would answer with nothing, and no error.
void check_finite(const nn::Module& module, const std::filesystem::path& path);

struct Beginning {
  std::shared_ptr<const nn::Module> model;
  std::filesystem::path folder;  ///< that it came from
};
/// Gives a model the mean of the weights of others of the same sizes; an Error names the first
/// that does not fit, and nothing has changed then.
void begin_with(nn::Module& model, std::span<const Beginning> others);

}  // namespace attn::tasks
