// C7, C8: additive attention, both projections included.

// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "machine/limits.hpp"
#include "problem.hpp"
#include "rows/row.hpp"

namespace attn::bench {
namespace {

std::vector<Case> cases(const Options& options, Pass pass, const std::vector<Claim>& claims) {
  std::vector<Case> cases;
  cases.reserve(options.threads.size());
  for (const int threads : options.threads) {
    cases.push_back({.problem = {.family = Family::additive,
                                 .pass = pass,
                                 .batch = 8,
                                 .queries = 128,
                                 .keys = 512,
                                 .dim = 256},
                     .threads = threads,
                     .set = options.set,
                     .limit = Limit::none,
                     .peers = {"libtorch", "libtorch-tuned"},
                     .claims = claims});
  }
  return cases;
}

}  // namespace

std::vector<Row> additive_rows(const Options& options) {
  return {
      {"C7", "additive forward",
       cases(options, Pass::forward,
             {{Measure::speedup_over_peer, 15, 22, "libtorch-tuned"},
              {Measure::memory_below_peer, 40, 40, "libtorch"}})},
      {"C8", "additive forward and backward",
       cases(options, Pass::both, {{Measure::speedup_over_peer, 10, 20, "libtorch-tuned"}})},
  };
}

}  // namespace attn::bench
