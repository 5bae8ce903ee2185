// C4: tiles that a mask rules out must cost nothing.

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "machine/limits.hpp"
#include "problem.hpp"
#include "rows/row.hpp"

namespace attn::bench {

std::vector<Row> mask_rows(const Options& options) {
  Row row{"C4", "causal against full; a sliding window costs what it holds", {}};
  const int threads = options.threads.back();
  const auto add = [&](Pass pass, Keep keep, std::int64_t window, std::vector<Claim> claims) {
    row.cases.push_back({.problem = {.pass = pass,
                                     .keep = keep,
                                     .batch = 1,
                                     .heads = 8,
                                     .queries = 4096,
                                     .keys = 4096,
                                     .dim = 64,
                                     .window = window},
                         .threads = threads,
                         .set = options.set,
                         .limit = Limit::multiply_add,
                         .claims = std::move(claims)});
    return name(row.cases.back().problem);
  };
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const std::string full = add(pass, Keep::all, 0, {});
    add(pass, Keep::causal, 0, {{Measure::speedup_over_case, 1.8, 1.95, full}});
  }
  // Time in proportion to the window, give or take a fifth: beside one in the middle.
  const std::string middle = add(Pass::forward, Keep::window, 1024, {});
  for (const std::int64_t window : {2048, 512, 256}) {
    add(Pass::forward, Keep::window, window, {{Measure::cost_beside_case, 0.2, 0.2, middle}});
  }
  return {row};
}

}  // namespace attn::bench
