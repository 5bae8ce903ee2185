/// The tasks that ship; each is defined in a folder of its own.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/task.hpp"

namespace attn::tasks {

PairTask pronounce_task();
PairTask translate_task();
PairTask summarise_task();
PairTask pairs_task();
const Task& caption_task();

std::vector<const Task*> shipped_tasks();

}  // namespace attn::tasks
