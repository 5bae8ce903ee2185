/// Where models are: the one a user names, or the one that ships.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>

namespace attn::tools {

/// `named`, or the shipped model of the task: $ATTN_MODELS/<task>, share/attn/models/<task>
/// beside the program's bin, or models/<task> of the source tree it was built in. A FileError
/// tells where it looked.
std::filesystem::path model_folder(const std::string& named, const std::string& task);

/// A program that was built beside this one ("attn-vocabulary"), or an empty path.
std::filesystem::path program_beside(const std::string& name);

}  // namespace attn::tools
