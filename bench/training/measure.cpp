// Rows C10 to C12: our step beside libtorch's, taking turns, best of many.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "attn/tensor/storage.hpp"
#include "training/entrants.hpp"
#include "training/workload.hpp"

namespace attn::bench {
namespace {

void print_entrant(const WorkloadRow& row, const Entrant& entrant, double ours) {
  const double best = entrant.best();
  std::string text = line_of(entrant);
  if (row.flops > 0.0) text += fmt::format("  {:>7.1f} GF/s", row.flops / best * 1e-9);
  if (row.tokens > 0.0) text += fmt::format("  {:>7.0f} tokens/s", row.tokens / best);
  if (entrant.name != "attn")
    text += fmt::format("  attn is {:.2f} times as fast", best / ours);
  fmt::print("{}\n", text);
}

}  // namespace

std::vector<WorkloadRow> workload_rows() {
  // Multiply-adds counted twice; backward costs two forwards.
  const double seq2seq =
      3.0 * 2.0 * 64.0 * 10.0 *
      (2.0 * 2.0 * 256 * 768 + (512.0 + 256 + 2.0 * 256) * 768 + 256.0 * 10'000);
  return {
      {"C10", "seq2seq training step: GRU, additive attention, vocabulary 10k", seq2seq, 640.0,
       2.5, 4.0, &seq2seq_workload},
      {"C11", "Transformer encoder layer training step: E512, ff2048, B8, N256", 42e9, 0.0, 1.5,
       2.0, &transformer_workload},
      {"C12", "matrix product 1024 x 1024 x 1024", 2.0 * 1024 * 1024 * 1024, 0.0, 0.0, 0.0,
       &product_workload},
  };
}

void measure_workloads(const WorkloadOptions& options) {
  for (const WorkloadRow& row : workload_rows()) {
    if (!options.rows.empty() &&
        std::find(options.rows.begin(), options.rows.end(), row.name) == options.rows.end())
      continue;
    fmt::print("\n{}  {}\n", row.name, row.title);
    double one = 0.0;
    double ours_at_best = 0.0;   // over the numbers of threads
    double peers_at_best = 0.0;  // tuned or not
    const auto least = [](double a, double b) { return a == 0.0 ? b : std::min(a, b); };
    for (const int threads : options.threads) {
      fmt::print("  threads:{}\n", threads);
      std::vector<Entrant> entrants;
      const MemoryUse before = memory_use();
      entrants.push_back({"attn", row.ours(threads), {}});
      reset_peak_memory();
      for (const bool tuned : {false, true})
        if (auto peer = libtorch_workload(row.name, threads, tuned))
          entrants.push_back({tuned ? "libtorch-tuned" : "libtorch", std::move(peer), {}});
      compete(entrants, options.quick ? 5 : 15);
      const double ours = entrants.front().best();
      for (const Entrant& entrant : entrants) print_entrant(row, entrant, ours);
      fmt::print("    memory of a step  {:.1f} MB, parameters and their state included\n",
                 static_cast<double>(memory_use().peak - before.live) * 1e-6);
      if (one == 0.0) {
        one = ours;
      } else {
        fmt::print("    {} threads are {:.2f} times as fast as {}\n", threads, one / ours,
                   options.threads.front());
      }
      ours_at_best = least(ours_at_best, ours);
      for (std::size_t i = 1; i < entrants.size(); ++i)
        peers_at_best = least(peers_at_best, entrants[i].best());
    }
    if (peers_at_best > 0.0 && row.floor > 0.0) {
      const double ratio = peers_at_best / ours_at_best;
      fmt::print(
          "  {} floor {:.2f}, goal {:.2f}: {:.2f} times libtorch, each at its best number of "
          "threads\n",
          ratio >= row.floor ? "met:" : "MISSED:", row.floor, row.goal, ratio);
    }
  }
}

}  // namespace attn::bench
