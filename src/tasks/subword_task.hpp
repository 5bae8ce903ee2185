/// What the tasks on sentences share: one vocabulary of subwords and a small Transformer whose
/// three tables are one.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/models/options.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {

/// The sizes keep a model within 8 MiB of bf16.
inline PairTask subword_task(std::int64_t vocabulary) {
  PairTask task;
  task.tokens = {.source = text::Units::subwords,
                 .target = text::Units::subwords,
                 .size = vocabulary,
                 .shared = true};
  task.model.dim = 256;
  task.model.encoder_layers = 3;
  task.model.decoder_layers = 2;
  task.model.heads = 4;
  task.model.positions = models::Positions::sinusoidal;
  task.model.feed_forward = 512;
  task.model.tie = models::Tie::all;
  task.training.batch_tokens = 4096;
  task.training.rate = 1.5e-3;
  task.training.evaluate_on = 300;
  return task;
}

}  // namespace attn::tasks
