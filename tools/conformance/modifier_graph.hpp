/// Graphs that change scores or weights, as functors: score_mod and prob_mod of FlexAttention.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/table.hpp"
#include "attn/kernels/stage.hpp"
#include "attn/score/program.hpp"
#include "tools/conformance/memory.hpp"

namespace attn::conformance {

/// A graph compiled into a program, with the tables that it reads.
struct Modifier {
  score::Program program;
  std::vector<std::vector<float>> values;  ///< of the tables
  std::vector<Table> tables;

  /// Puts the tables where a path computes.
  void place(Memory& memory);
  AnyScore score() const;
  AnyWeight weight() const;
};

/// Compiles a graph of one input and one output over scores [batch, heads, queries, keys]. What
/// only depends on the extents is computed at once; a range along one axis becomes the index of
/// that axis, and other constants tables. FileError, beginning with `where`, for an operation
/// or an attribute that is not known, or for a graph that is too long.
Modifier compile_modifier(const nlohmann::json& graph, const std::array<std::int64_t, 4>& grid,
                          const std::string& where);

}  // namespace attn::conformance
