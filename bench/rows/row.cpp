// SPDX-License-Identifier: Apache-2.0

#include "rows/row.hpp"

#include <string>
#include <utility>
#include <vector>

#include "machine/limits.hpp"
#include "problem.hpp"

namespace attn::bench {

Work work_of(const Case& c) {
  if (c.problem.family == Family::additive) return {work(c.problem), "tanh"};
  if (c.limit == Limit::read || c.limit == Limit::triad) return {key_bytes(c.problem), "B"};
  return {work(c.problem), "FLOP"};
}

std::string name(const Row& row, const Case& c) {
  return row.name + "/" + name(c.problem) + "/threads:" + std::to_string(c.threads);
}

std::vector<Row> rows(const Options& options) {
  std::vector<Row> all;
  for (const auto family : {sdpa_rows, mask_rows, decode_rows, short_rows, additive_rows,
                            memory_rows, server_rows}) {
    for (auto& row : family(options)) all.push_back(std::move(row));
  }
  return all;
}

}  // namespace attn::bench
