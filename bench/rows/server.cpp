// S: float32 against PyTorch 2 on the same machine (--peer pytorch=...).

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "machine/limits.hpp"
#include "problem.hpp"
#include "rows/row.hpp"

namespace attn::bench {

std::vector<Row> server_rows(const Options& options) {
  struct Shape {
    Keep keep;
    std::int64_t batch, length, dim;
  };
  Row row{"S", "SDPA and additive against PyTorch 2", {}};
  const std::vector<Claim> claims{{Measure::speedup_over_peer, 1.0, 1.3, "pytorch"}};
  const auto add = [&](const Problem& problem, Limit limit) {
    for (const int threads : options.threads) {
      row.cases.push_back({.problem = problem,
                           .threads = threads,
                           .set = options.set,
                           .limit = limit,
                           .peers = {"pytorch"},
                           .claims = claims});
    }
  };
  for (const Shape& shape :
       {Shape{Keep::all, 4, 1024, 64}, Shape{Keep::all, 1, 4096, 64},
        Shape{Keep::all, 1, 4096, 128}, Shape{Keep::causal, 1, 4096, 64}}) {
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      add({.pass = pass,
           .keep = shape.keep,
           .batch = shape.batch,
           .heads = 8,
           .queries = shape.length,
           .keys = shape.length,
           .dim = shape.dim},
          Limit::multiply_add);
    }
  }
  for (const Pass pass : {Pass::forward, Pass::both}) {
    add({.family = Family::additive,
         .pass = pass,
         .batch = 8,
         .queries = 128,
         .keys = 512,
         .dim = 256},
        Limit::none);
  }
  return {row};
}

}  // namespace attn::bench
