/// Completion of commands and flags in a shell, made from the program's own options.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
}

namespace attn::tools {

/// The script for bash, zsh or fish.
std::string completion_script(const CLI::App& app, const std::string& shell);

/// Gives every flag of every command a twin in the environment: --beam of translate is
/// ATTN_TRANSLATE_BEAM. The command line wins.
void add_environment_twins(CLI::App& app);

}  // namespace attn::tools
