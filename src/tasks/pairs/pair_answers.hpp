/// The model of text pairs behind the interface of every task.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/task.hpp"

namespace attn::tasks {

std::unique_ptr<Model> answering(PairModel model, const Task& task);

}  // namespace attn::tasks
