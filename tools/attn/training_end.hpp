/// What the commands that train share before and after a run.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>

#include "attn/tasks/learner.hpp"
#include "attn/tasks/training_run.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {

/// A run that goes on needs a checkpoint in the folder, and one that begins neither that nor a
/// model, which it would write over: else a FileError says what to do.
void check_training_folder(const std::filesystem::path& folder, tasks::Resume resume);

/// " --minutes 3 --steps 500": what was given of it.
std::string budget_text(const tasks::Budget& budget);

/// A word as it is typed: between quotes where a shell would not take it as it is.
std::string shell_word(const std::string& text);

/// `data` is a file of the user's own, or empty.
void tell_end_of_training(const std::string& task, const std::string& out,
                          const std::filesystem::path& data, const tasks::Trained& trained,
                          const Streams& streams);

}  // namespace attn::tools
