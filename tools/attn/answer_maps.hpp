/// The flags of a command that attends: its maps, and steering.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <cstdio>
#include <string>

#include "attn/models/steering.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/task.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {

struct MapOptions {
  std::string file;
  bool show = false;
  std::string heads;  ///< "all", or a part; empty: none

  bool wanted() const { return show || !file.empty(); }
};

/// --map and --show.
void add_map_options(CLI::App& command, MapOptions& options);
/// --heads.
void add_heads_option(CLI::App& command, MapOptions& options);

/// --attention-temperature, --forbid, --force. They are in `steering` once the line is parsed.
void add_steering_options(CLI::App& command, models::Steering& steering);

/// Draws the answers of a run: the first into the file itself, the others into FILE-2, FILE-3,
/// ... beside it.
class AnswerMaps {
 public:
  /// Heat maps are printed on `show_on`.
  AnswerMaps(const MapOptions& options, std::FILE* show_on)
      : options_(options), show_on_(show_on) {}

  /// What the user should know of the picture; "": nothing.
  std::string draw(const tasks::Model& model, const tasks::Input& input,
                   const tasks::Piece& piece);

 private:
  const MapOptions& options_;
  std::FILE* show_on_;
  std::int64_t drawn_ = 0;
};

}  // namespace attn::tools
