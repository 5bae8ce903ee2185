/// The tasks that ship; each is defined in a folder of its own.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <vector>

#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/task.hpp"

namespace attn::tasks {

PairTask pronounce_task();
PairTask translate_task();
PairTask summarise_task();
PairTask pairs_task();
const Task& answer_task();
const Task& caption_task();
const Task& chat_task();
const Task& cloze_task();
const Task& remember_task();
const Task& entail_task();
const Task& write_task();
const Task& parse_task();
const Task& classify_task();
const Task& look_task();
const Task& paint_task();
const Task& transcribe_task();
const Task& compose_task();
const Task& watch_task();

std::vector<const Task*> shipped_tasks();

/// A model of text pairs behind the interface of every task.
std::unique_ptr<Model> answering(PairModel model, const Task& task);

}  // namespace attn::tasks
