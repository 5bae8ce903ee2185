/// What the held-out text costs without attention: as archives have it, and by counts.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/task.hpp"

namespace attn::tasks {

/// xz, PPMd and 5-grams of byte pieces, in bits a character of the test part. A compressor's is
/// the size of both parts together less that of train. One whose program is not here has no
/// score, and its name says so.
std::vector<Baseline> written_baselines(const Corpus& corpus);

}  // namespace attn::tasks
