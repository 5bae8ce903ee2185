/// What music gives away without a model.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/task.hpp"

namespace attn::tasks::compose {

/// The frequency of notes or characters, and that of what follows the one before.
std::vector<Baseline> music_baselines(const Corpus& corpus);

}  // namespace attn::tasks::compose
