/// How answers are searched for: as the task does it, unless a flag says otherwise.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>

#include "attn/models/search.hpp"
#include "attn/tasks/task.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
}

namespace attn::tools {

struct SearchFlags {
  std::optional<std::int64_t> beam;
  std::optional<double> length_penalty;
  std::optional<std::int64_t> no_repeat;
  std::optional<models::Choice> choice;
};

/// --beam, --length-penalty, --no-repeat, --choose. With a task, --help tells its own values.
void add_search_flags(CLI::App& command, SearchFlags& flags, const tasks::Task* task = nullptr);

/// Writes what the flags say over what is there, which is a task's.
void apply(const SearchFlags& flags, models::SearchOptions& search);

}  // namespace attn::tools
