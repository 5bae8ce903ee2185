/// How answers are searched for: as the task does it, unless a flag says otherwise.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/task.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
}

namespace attn::tools {

/// --beam, --length-penalty, --no-repeat, --choose. With a task, --help tells its own values.
void add_search_flags(CLI::App& command, tasks::Choices& choices,
                      const tasks::Task* task = nullptr);

/// What is wrong with the choices together, in the words of the flags; "": nothing.
std::string misuse(const tasks::Choices& choices);

}  // namespace attn::tools
