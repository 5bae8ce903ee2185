/// Row: a named question about speed or memory, its cases, and what would be a good answer.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "machine/limits.hpp"
#include "problem.hpp"

namespace attn::bench {

/// What is asked of our own contender in a case. `value` of each kind:
enum class Measure {
  fraction_of_limit,  ///< our rate / the case's limit
  speedup_over_peer,  ///< peer's seconds / ours
  speedup_over_case,  ///< our seconds in the other case / here
  cost_beside_case,   ///< our seconds per unit of work here / in the other case
  memory_below_peer,  ///< peer's extra bytes / ours
  extra_megabytes,    ///< our extra memory, in 10^6 bytes
};

struct Claim {
  Measure measure;
  /// Below it the work is not done. For cost_beside_case: the accepted distance from 1; for
  /// extra_megabytes: the most that is accepted.
  double floor;
  double goal;
  std::string against;  ///< the peer's or the other problem's name
};

/// fresh: one call in a process of its own, for what is asked about memory.
enum class Effort { repeated, fresh };

struct Case {
  Problem problem;
  int threads = 1;
  std::string set{};  ///< the instruction set that ours is held to
  Limit limit = Limit::none;
  std::vector<std::string> peers{};  ///< beside our own
  std::vector<Claim> claims{};
  Effort effort = Effort::repeated;
};

struct Row {
  std::string name;
  std::string title;
  std::vector<Case> cases;
};

/// The unit and amount of a case's work: FLOP, bytes (limits of memory) or tanh (additive).
struct Work {
  double amount;
  const char* unit;
};
Work work_of(const Case& c);

/// "C1/forward/b:4/h:8/n:1024/d:64/threads:1".
std::string name(const Row& row, const Case& c);

struct Options {
  std::vector<int> threads;
  std::string set;  ///< ours in every row but C3
  bool quick = false;
};

/// Every row there is. C1 … C9 by default; S is run by name, on machines with PyTorch.
std::vector<Row> rows(const Options& options);

std::vector<Row> sdpa_rows(const Options& options);      ///< C1 C2 C3
std::vector<Row> mask_rows(const Options& options);      ///< C4
std::vector<Row> decode_rows(const Options& options);    ///< C5
std::vector<Row> short_rows(const Options& options);     ///< C6
std::vector<Row> additive_rows(const Options& options);  ///< C7 C8
std::vector<Row> memory_rows(const Options& options);    ///< C9
std::vector<Row> server_rows(const Options& options);    ///< S

}  // namespace attn::bench
