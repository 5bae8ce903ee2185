/// The map of an answer: the picture, and where its question looked.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/answer/questions.hpp"

namespace attn::tasks::vqa {

/// How the model looked.
struct Looking {
  std::string attention;
  std::int64_t hops;
  std::int64_t grid;
};

/// A panel for each look that the answer has numbers of. `text` is the question as it was
/// asked.
maps::Image map_of(const Looking& looking, const Picture& picture, const std::string& text,
                   const Question& question, const Answer& answer);

}  // namespace attn::tasks::vqa
