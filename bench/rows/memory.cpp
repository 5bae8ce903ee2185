// C9: no score matrix is ever written, so memory beyond the caller's stays small.

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "machine/limits.hpp"
#include "problem.hpp"
#include "rows/row.hpp"

namespace attn::bench {

std::vector<Row> memory_rows(const Options& options) {
  constexpr std::int64_t kLength = 16384;
  Row row{"C9", "memory of forward and backward", {}};
  row.cases.push_back({.problem = {.pass = Pass::both,
                                   .batch = 1,
                                   .heads = 8,
                                   .queries = kLength,
                                   .keys = kLength,
                                   .dim = 64},
                       .threads = options.threads.back(),
                       .set = options.set,
                       .limit = Limit::multiply_add,
                       .claims = {{Measure::extra_megabytes, 64, 16, ""}},
                       .effort = Effort::fresh});
  return {row};
}

}  // namespace attn::bench
