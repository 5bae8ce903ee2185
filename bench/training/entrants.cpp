// SPDX-License-Identifier: Apache-2.0

#include "training/entrants.hpp"

#include <fmt/core.h>

#include <string>
#include <vector>

#include "statistics.hpp"

namespace attn::bench {

double Entrant::best() const {
  return smallest(seconds);
}

double Entrant::noise() const {
  return median(seconds) / best() - 1.0;
}

void compete(std::vector<Entrant>& entrants, int rounds) {
  for (Entrant& entrant : entrants) entrant.work->seconds(1);
  for (int round = 0; round < rounds; ++round)
    for (Entrant& entrant : entrants) {
      entrant.work->seconds(1);
      entrant.seconds.push_back(entrant.work->seconds(1));
    }
}

std::string line_of(const Entrant& entrant) {
  return fmt::format("    {:<16} {:>9.2f} ms  noise {:>3.0f} %", entrant.name,
                     1e3 * entrant.best(), 100.0 * entrant.noise());
}

}  // namespace attn::bench
