/// Report: the table on the screen, and everything as JSON.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "machine/facts.hpp"
#include "machine/limits.hpp"
#include "measure.hpp"
#include "rows/row.hpp"

namespace attn::bench {

void print_machine(const Facts& facts, const Limits& limits);
void print_row_title(const Row& row);

/// Time, rate, fraction of the limit, noise, memory and our speedup over each contender.
void print_case(const Row& row, const CaseResult& result, const Limits& limits);

/// The claims, once a row is whole and the limits are known as well as they will be.
void print_verdicts(const Row& row, const std::vector<CaseResult>& results,
                    const Limits& limits);

nlohmann::json json_of(const Facts& facts);
nlohmann::json json_of(const Limits& limits);
nlohmann::json json_of(const Row& row, const std::vector<CaseResult>& results,
                       const Limits& limits);

}  // namespace attn::bench
