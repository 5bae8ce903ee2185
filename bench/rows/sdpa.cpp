// C1, C2, C3: plain scaled dot-product attention, the kernels' bread.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/kernels.hpp"
#include "machine/instruction_sets.hpp"
#include "machine/limits.hpp"
#include "problem.hpp"
#include "rows/row.hpp"

namespace attn::bench {
namespace {

struct Bar {
  double floor;
  double goal;
};

std::vector<Case> cases(const Options& options, Pass pass, const std::string& set, Bar bar) {
  std::vector<Case> cases;
  for (const std::int64_t dim : {64, 128}) {
    for (const int threads : options.threads) {
      cases.push_back({.problem = {.pass = pass,
                                   .batch = 4,
                                   .heads = 8,
                                   .queries = 1024,
                                   .keys = 1024,
                                   .dim = dim},
                       .threads = threads,
                       .set = set,
                       .limit = Limit::multiply_add,
                       .peers = {"unfused", "libtorch", "libtorch-tuned"},
                       .claims = {{Measure::fraction_of_limit, bar.floor, bar.goal, ""}}});
    }
  }
  return cases;
}

}  // namespace

std::vector<Row> sdpa_rows(const Options& options) {
  std::vector<Row> rows{
      {"C1", "SDPA forward", cases(options, Pass::forward, options.set, {0.73, 0.82})},
      {"C2", "SDPA backward", cases(options, Pass::backward, options.set, {0.72, 0.78})},
  };
  const auto sets = instruction_sets();
  if (std::any_of(sets.begin(), sets.end(), [](const Kernels* kernels) {
        return std::string_view(kernels->set) == "avx2";
      })) {
    Row c3{"C3", "SDPA forward and backward with AVX2",
           cases(options, Pass::forward, "avx2", {0.70, 0.76})};
    for (auto& c : cases(options, Pass::backward, "avx2", {0.70, 0.76})) {
      c3.cases.push_back(std::move(c));
    }
    rows.push_back(std::move(c3));
  }
  return rows;
}

}  // namespace attn::bench
