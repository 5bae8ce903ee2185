/// The curve of a training, drawn anew while it runs.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>

#include "attn/tasks/learner.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {

class TrainingPicture {
 public:
  /// `file` is where to draw, or empty; `run` the folder of the training. Throws where nothing
  /// could be drawn there.
  TrainingPicture(std::filesystem::path file, std::filesystem::path run,
                  const Streams& streams);

  /// Draws at each evaluation. What goes wrong then is no reason to end a training.
  void operator()(const tasks::Progress& progress);
  /// Draws for the last time, and tells where, or why not.
  void end();

 private:
  std::string draw() const;  ///< "" or what went wrong

  std::filesystem::path file_;
  std::filesystem::path run_;
  Streams streams_;
};

}  // namespace attn::tools
