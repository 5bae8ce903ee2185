/// Measure: the cases run, contenders and limit in turn, each result checked before it counts.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "contender.hpp"
#include "machine/limits.hpp"
#include "rows/row.hpp"

namespace attn::bench {

/// What one contender did in one case.
struct Result {
  std::string peer;
  std::vector<double> samples;    ///< seconds a call, one a repetition
  std::int64_t extra_bytes = -1;  ///< beyond inputs and outputs, in a fresh process
  double error = 0;
  std::string route;    ///< the kernels that ours took (attn/kernels/route.hpp)
  std::string problem;  ///< why it does not count; empty when it does

  bool counts() const { return problem.empty(); }
  double best() const;
  double noise() const;  ///< median / best - 1
};

struct CaseResult {
  Case asked;
  std::vector<Result> results;  ///< ours first

  const Result* of(const std::string& peer) const;
};

class Measurer {
 public:
  Measurer(std::vector<Peer> peers, bool quick);

  /// The same problem, threads and set are measured once, however many rows ask.
  CaseResult measure(const Case& c);

  const Limits& limits() const { return limits_; }

  /// A sample of every limit on every instruction set: at the start and at the end of a run.
  void sample_all_limits(const std::vector<int>& threads);

 private:
  struct Running;
  std::vector<Running> enter(const Case& c, const Data& data, std::vector<Result>& results);
  void repeat(const Case& c, std::vector<Running>& running, std::vector<Result>& results);
  void ask_memory(const Case& c, Result& result);
  CaseResult measure_fresh(const Case& c);
  const Peer* find(const std::string& name) const;

  std::vector<Peer> peers_;
  bool quick_;
  Limits limits_;
  std::map<std::string, CaseResult> done_;
};

}  // namespace attn::bench
