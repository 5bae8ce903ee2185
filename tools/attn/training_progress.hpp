/// The progress of a training run on the error stream: one line that is written over, or a line
/// now and then where nobody looks.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <string>

#include "attn/tasks/learner.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {

class TrainingProgress {
 public:
  explicit TrainingProgress(const Streams& streams);

  void operator()(const tasks::Progress& progress);
  /// Ends the line that is being written over.
  void end();

 private:
  Streams streams_;
  bool terminal_;
  bool open_ = false;  ///< a line is there to be written over
  std::chrono::steady_clock::time_point last_{};
};

/// "2 h 05 min", "3 min 20 s", "12 s".
std::string duration_text(double seconds);

}  // namespace attn::tools
