// SPDX-License-Identifier: Apache-2.0

#include "measure.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attn/kernels/route.hpp"
#include "contender.hpp"
#include "data.hpp"
#include "isa/kernels.hpp"
#include "machine/instruction_sets.hpp"
#include "machine/limits.hpp"
#include "oracle.hpp"
#include "problem.hpp"
#include "rows/row.hpp"
#include "statistics.hpp"

namespace attn::bench {
namespace {

/// Collects the repetitions that Google Benchmark reports; prints nothing.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
      samples[run.run_name.function_name].push_back(run.real_accumulated_time /
                                                    static_cast<double>(run.iterations));
    }
  }

  std::map<std::string, std::vector<double>> samples;
};

void initialise_benchmark() {
  static const bool kOnce = [] {
    std::string program = "attn-bench",
                interleave = "--benchmark_enable_random_interleaving=true";
    char* arguments[] = {program.data(), interleave.data(), nullptr};
    int count = 2;
    benchmark::Initialize(&count, arguments);
    return true;
  }();
  (void)kOnce;
}

std::string key_of(const Case& c) {
  return name(c.problem) + " " + std::to_string(c.threads) + " " + c.set +
         (c.effort == Effort::fresh ? " fresh" : "");
}

std::string wrong(double error) {
  return "wrong result: error " + std::to_string(error) + " against the reference";
}

}  // namespace

double Result::best() const {
  return smallest(samples);
}
double Result::noise() const {
  return samples.empty() ? 0 : median(samples) / best() - 1;
}

const Result* CaseResult::of(const std::string& peer) const {
  const auto found = std::find_if(results.begin(), results.end(),
                                  [&](const Result& result) { return result.peer == peer; });
  return found == results.end() ? nullptr : &*found;
}

/// A contender that passed its check, with how often it is called.
struct Measurer::Running {
  std::string peer;
  std::unique_ptr<Contender> contender;
  int calls;
  int repetitions;
};

Measurer::Measurer(std::vector<Peer> peers, bool quick)
    : peers_(std::move(peers)), quick_(quick) {
  initialise_benchmark();
}

const Peer* Measurer::find(const std::string& name) const {
  const auto found = std::find_if(peers_.begin(), peers_.end(),
                                  [&](const Peer& peer) { return peer.name == name; });
  return found == peers_.end() ? nullptr : &*found;
}

CaseResult Measurer::measure(const Case& c) {
  const auto found = done_.find(key_of(c));
  if (found != done_.end()) {
    CaseResult result = found->second;
    result.asked = c;
    return result;
  }
  CaseResult result;
  if (c.effort == Effort::fresh) {
    result = measure_fresh(c);
  } else {
    result.asked = c;
    const Data data = make_data(c.problem);
    auto running = enter(c, data, result.results);
    repeat(c, running, result.results);
    running.clear();
    for (auto& each : result.results) ask_memory(c, each);
  }
  return done_[key_of(c)] = result;
}

std::vector<Measurer::Running> Measurer::enter(const Case& c, const Data& data,
                                               std::vector<Result>& results) {
  // Long enough for the clock, short enough to fall between two turns of a neighbour.
  constexpr double kSampleSeconds = 1e-3;
  const double budget = quick_ ? 0.4 : 3.0;
  // Many, where a repetition takes a millisecond: a busy moment of the machine is longer.
  const int fewest = quick_ ? 3 : 7, most = quick_ ? 200 : 2000;

  const Witness expected = oracle(c.problem, data);
  std::vector<std::string> names = c.peers;
  names.insert(names.begin(), "attn");
  std::vector<Running> running;
  for (const auto& peer_name : names) {
    const Peer* peer = find(peer_name);
    if (peer == nullptr || !peer->serves(c.problem)) continue;
    Result& result = results.emplace_back();
    result.peer = peer_name;
    try {
      auto contender = peer->enter(c.problem, data, {c.threads, c.set});
      contender->seconds(1);
      result.error = error(contender->witness(), expected);
      if (const auto route = last_route(); result.peer == "attn" && route)
        result.route = name_of(*route);
      if (!(result.error <= kAcceptedError)) {
        result.problem = wrong(result.error);
        continue;
      }
      const double seconds = std::max(contender->seconds(1), 1e-9);
      const int calls = std::max(1, static_cast<int>(std::ceil(kSampleSeconds / seconds)));
      const int repetitions =
          std::clamp(static_cast<int>(budget / (seconds * calls)), fewest, most);
      running.push_back({peer_name, std::move(contender), calls, repetitions});
    } catch (const std::exception& failure) {
      result.problem = failure.what();
    }
  }
  return running;
}

void Measurer::repeat(const Case& c, std::vector<Running>& running,
                      std::vector<Result>& results) {
  const Kernels& kernels = instruction_set(c.set);
  const int limit_repetitions = quick_ ? 5 : 15;
  benchmark::ClearRegisteredBenchmarks();
  const auto add = [](const std::string& who, int repetitions, auto body) {
    benchmark::RegisterBenchmark(who.c_str(), body)
        ->UseManualTime()
        ->Iterations(1)
        ->Repetitions(repetitions)
        ->Unit(benchmark::kSecond);
  };
  for (auto& each : running) {
    add(each.peer, each.repetitions, [&each](benchmark::State& state) {
      for (auto _ : state) state.SetIterationTime(each.contender->seconds(each.calls));
    });
  }
  if (c.limit != Limit::none) {
    add("limit", limit_repetitions, [&](benchmark::State& state) {
      for (auto _ : state) {
        state.SetIterationTime(1 / limits_.sample(c.limit, kernels, c.threads));
      }
    });
  }
  Collector collector;
  // Nobody is measured only in the quiet or only in the busy half: repetitions are shuffled.
  benchmark::RunSpecifiedBenchmarks(&collector, ".");
  for (auto& result : results) result.samples = collector.samples[result.peer];
}

void Measurer::ask_memory(const Case& c, Result& result) {
  const Peer* peer = find(result.peer);
  if (!result.counts() || peer == nullptr) return;
  // A backward needs what its forward kept: its memory is that of both.
  Problem problem = c.problem;
  if (problem.pass == Pass::backward) problem.pass = Pass::both;
  try {
    result.extra_bytes = peer->once(problem, {c.threads, c.set}, Check::no).extra_bytes;
  } catch (const std::exception&) {
    result.extra_bytes = -1;
  }
}

CaseResult Measurer::measure_fresh(const Case& c) {
  CaseResult all{.asked = c, .results = {}};
  Result& result = all.results.emplace_back();
  result.peer = "attn";
  const Peer* peer = find(result.peer);
  limits_.sample(c.limit, instruction_set(c.set), c.threads);
  try {
    const Once once = peer->once(c.problem, {c.threads, c.set}, Check::yes);
    result.samples = {once.seconds};
    result.extra_bytes = once.extra_bytes;
    result.error = once.error;
    if (!(once.error <= kAcceptedError)) result.problem = wrong(once.error);
  } catch (const std::exception& failure) {
    result.problem = failure.what();
  }
  limits_.sample(c.limit, instruction_set(c.set), c.threads);
  return all;
}

void Measurer::sample_all_limits(const std::vector<int>& threads) {
  const auto sets = instruction_sets();
  for (int repetition = 0; repetition < 3; ++repetition) {
    for (const int count : threads) {
      for (const Kernels* kernels : sets) {
        limits_.sample(Limit::multiply_add, *kernels, count);
      }
      limits_.sample(Limit::read, *sets.front(), count);
      limits_.sample(Limit::triad, *sets.front(), count);
    }
  }
}

}  // namespace attn::bench
