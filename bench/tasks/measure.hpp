/// M1 and M2: the tasks that ship, trained and answered.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>
#include <vector>

namespace attn::bench {

struct TaskOptions {
  std::vector<int> threads;
  bool quick = false;
  std::vector<std::string> peers;  ///< "name=command", of M2
  std::filesystem::path tokens;    ///< a folder for what models read and wrote; empty: nowhere
};

/// M1: target tokens a second of a training step, one batch of typical lengths a task.
void measure_task_training(const TaskOptions& options);

/// M2: words a second of the models that ship, beam 5, beside peers that must answer the same.
void measure_task_decoding(const TaskOptions& options);

}  // namespace attn::bench
