/// Entrants: contenders in one piece of work, who take turns.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <vector>

#include "training/workload.hpp"

namespace attn::bench {

struct Entrant {
  std::string name;
  std::unique_ptr<Workload> work;
  std::vector<double> seconds;  ///< of each round

  double best() const;
  double noise() const;  ///< median / best - 1
};

/// All run once to warm up, then in turn. The first call of a turn is not counted: it finds the
/// caches, and on a core or two the waiting threads, of who came before, and trainings run step
/// after step.
void compete(std::vector<Entrant>& entrants, int rounds);

/// "    attn   254.00 ms  noise   2 %".
std::string line_of(const Entrant& entrant);

}  // namespace attn::bench
