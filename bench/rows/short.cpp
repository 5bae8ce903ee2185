// C6: where the score matrix fits the first cache, tiling must not cost anything. The unfused
// backward is handed the weights that its forward made and stored; ours is handed the
// similarities (keeps_similarities) and makes the weights again.

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "machine/limits.hpp"
#include "problem.hpp"
#include "rows/row.hpp"

namespace attn::bench {

std::vector<Row> short_rows(const Options& options) {
  Row row{"C6", "short sequences, against our own unfused path", {}};
  for (const Pass pass : {Pass::forward, Pass::backward, Pass::both}) {
    for (const std::int64_t length : {16, 32, 64}) {
      row.cases.push_back({.problem = {.pass = pass,
                                       .batch = 16,
                                       .heads = 8,
                                       .queries = length,
                                       .keys = length,
                                       .dim = 64},
                           .threads = 1,
                           .set = options.set,
                           .limit = Limit::multiply_add,
                           .peers = {"unfused", "libtorch-tuned"},
                           .claims = {{Measure::speedup_over_peer, 1.0, 1.5, "unfused"}}});
    }
  }
  return {row};
}

}  // namespace attn::bench
