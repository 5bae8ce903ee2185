/// Where models are: the one a user names, or the one that ships.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace attn::tools {

/// The folder of a model that ships: $ATTN_MODELS/<name>, share/attn/models/<name> beside the
/// program's bin, or models/<name> of the source tree it was built in.
std::optional<std::filesystem::path> shipped_model(const std::string& name);

/// The folders of all models that ship, by name.
std::map<std::string, std::filesystem::path> shipped_models();

/// `named`, which is a folder or the name of a model that ships, or the shipped model of the
/// task. A FileError tells where it looked, and which names there are.
std::filesystem::path model_folder(const std::string& named, const std::string& task);

/// A program that was built beside this one ("attn-vocabulary"), or an empty path.
std::filesystem::path program_beside(const std::string& name);

}  // namespace attn::tools
