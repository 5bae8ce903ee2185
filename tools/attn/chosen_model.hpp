/// The model that a command asks: out of a package, by its name, or from a folder.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <memory>
#include <string>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tensor/storage.hpp"

namespace attn::tools {

struct ChosenModel {
  std::shared_ptr<const tasks::Model> model;
  std::filesystem::path folder;  ///< "" of a package's model, which learnt elsewhere
};

/// `named` is what --model says: one of the task's package, which is fetched where it is not
/// there, a folder, or a model that ships, TASK- in front or not. Where it says nothing the
/// first of the package answers, else the model that ships as `shipped`.
ChosenModel chosen_model(const tasks::Task& task, Device device, const std::string& named,
                         const std::string& shipped, const std::string& command,
                         const tasks::Say& say);

/// Whether that is one of the task's package.
bool is_packaged(const tasks::Task& task, const std::string& named);

/// "base, tiny": what --model takes of the task's package; "" where it has none.
std::string packaged_names(const tasks::Task& task);

}  // namespace attn::tools
