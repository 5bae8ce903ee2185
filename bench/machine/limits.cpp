// SPDX-License-Identifier: Apache-2.0

#include "machine/limits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

#include "data.hpp"
#include "isa/kernels.hpp"
#include "statistics.hpp"
#include "stopwatch.hpp"
#include "team.hpp"

namespace attn::bench {
namespace {

// 12 chains × 8 lanes × 2 FLOP × 2^20 rounds are 0.2 GFLOP: some milliseconds.
constexpr std::int64_t kRounds = std::int64_t{1} << 20;
constexpr int kBursts = 4;

// 256 MiB a buffer, far more than any cache of today's.
constexpr std::int64_t kStreamSize = std::int64_t{1} << 26;

}  // namespace

std::string_view name_of(Limit limit) {
  switch (limit) {
    case Limit::multiply_add:
      return "multiply-add";
    case Limit::read:
      return "read";
    case Limit::triad:
      return "triad";
    case Limit::none:
      break;
  }
  return "none";
}

double Limits::sample(Limit limit, const Kernels& kernels, int threads) {
  if (limit == Limit::none) return 0;
  const double rate = limit == Limit::multiply_add ? multiply_add(kernels, threads)
                                                   : stream(limit, kernels, threads);
  samples_[{limit, kernels.set, threads}].push_back(rate);
  return rate;
}

double Limits::best(const Key& key) const {
  const auto found = samples_.find(key);
  return found == samples_.end()
             ? 0
             : *std::max_element(found->second.begin(), found->second.end());
}

double Limits::noise(const Key& key) const {
  const auto found = samples_.find(key);
  return found == samples_.end() ? 0 : best(key) / median(found->second) - 1;
}

double Limits::multiply_add(const Kernels& kernels, int threads) {
  // The best of a few short bursts: what a moment without neighbours gives.
  double best_rate = 0;
  std::vector<double> flop(static_cast<std::size_t>(threads));
  std::vector<float> sinks(static_cast<std::size_t>(threads));
  for (int burst = 0; burst < kBursts; ++burst) {
    const Stopwatch watch(threads);
    team(threads).run([&](int rank) {
      const auto r = static_cast<std::size_t>(rank);
      flop[r] = kernels.multiply_add(kRounds, &sinks[r]);
    });
    const double total = std::accumulate(flop.begin(), flop.end(), 0.0);
    best_rate = std::max(best_rate, total / watch.seconds());
  }
  return best_rate;
}

double Limits::stream(Limit limit, const Kernels& kernels, int threads) {
  const bool triad = limit == Limit::triad;
  if (b_.size() == 0) b_ = Buffer(kStreamSize);
  if (triad && a_.size() == 0) {
    a_ = Buffer(kStreamSize);
    c_ = Buffer(kStreamSize);
  }
  std::vector<float> sinks(static_cast<std::size_t>(threads));
  const Stopwatch watch(threads);
  team(threads).run([&](int rank) {
    const std::int64_t begin = kStreamSize * rank / threads;
    const std::int64_t size = kStreamSize * (rank + 1) / threads - begin;
    if (triad) {
      kernels.triad(a_.data() + begin, b_.data() + begin, c_.data() + begin, 0.5f, size);
    } else {
      sinks[static_cast<std::size_t>(rank)] = kernels.sum(b_.data() + begin, size);
    }
  });
  const double bytes = sizeof(float) * static_cast<double>(kStreamSize) * (triad ? 3 : 1);
  return bytes / watch.seconds();
}

Team& Limits::team(int threads) {
  auto& team = teams_[threads];
  if (!team) team = std::make_unique<Team>(threads);
  return *team;
}

}  // namespace attn::bench
