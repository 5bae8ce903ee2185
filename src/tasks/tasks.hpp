/// The tasks; each is defined in a folder of its own.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tasks/task.hpp"

namespace attn::tasks {

Task pronounce_task();
Task translate_task();
Task summarise_task();
Task pairs_task();

}  // namespace attn::tasks
