/// Turns: what a person said and was answered, one after another, as the input of a task that
/// reads a dialogue.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/answer.hpp"

namespace attn::tools {

/// A turn a line; line breaks within a turn become spaces. InvalidArgument for an empty one.
tasks::Input input_of_turns(const std::vector<std::string>& turns);

/// Of a line with tabs between turns.
tasks::Input input_of_turns(std::string_view line);

}  // namespace attn::tools
