/// The models of Moonshine behind the interface of every task, and the package that holds them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <memory>

#include "attn/tasks/task.hpp"

namespace attn::tasks {

const ModelPackage& moonshine_package();

/// The model of a package that a folder holds: of the package itself the first, else the one
/// whose folder it is. Null where there is none.
std::unique_ptr<Model> load_moonshine(const std::filesystem::path& folder);

}  // namespace attn::tasks
