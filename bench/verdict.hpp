/// Verdict: a claim held against the measurements.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <vector>

#include "machine/limits.hpp"
#include "measure.hpp"
#include "rows/row.hpp"

namespace attn::bench {

struct Verdict {
  Claim claim;
  std::optional<double> value;  ///< empty where a side of the comparison is missing
  bool floor_met = false;
  bool goal_met = false;
};

/// `all` holds every case measured so far in the same row: some claims compare two of them.
Verdict judge(const Claim& claim, const CaseResult& result, const std::vector<CaseResult>& all,
              const Limits& limits);

/// Our claim in words: "76 % of the limit (floor 73 %, goal 82 %)".
std::string sentence(const Verdict& verdict);

}  // namespace attn::bench
