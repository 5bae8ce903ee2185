// C5: one query against a long cache reads every key and value once; memory is the limit.

// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "machine/limits.hpp"
#include "rows/row.hpp"

namespace attn::bench {

std::vector<Row> decode_rows(const Options& options) {
  Row row{"C5", "decode: one query, 64k keys", {}};
  for (const int threads : options.threads) {
    row.cases.push_back(
        {.problem = {.batch = 1, .heads = 8, .queries = 1, .keys = 65536, .dim = 128},
         .threads = threads,
         .set = options.set,
         .limit = Limit::read,
         .peers = {"unfused", "libtorch-tuned"},
         .claims = {{Measure::fraction_of_limit, 0.75, 0.90, ""}}});
  }
  return {row};
}

}  // namespace attn::bench
