// SPDX-License-Identifier: Apache-2.0

#include "report.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "machine/facts.hpp"
#include "machine/limits.hpp"
#include "measure.hpp"
#include "rows/row.hpp"
#include "statistics.hpp"
#include "verdict.hpp"

namespace attn::bench {
namespace {

const char* unit_of(Limit limit) {
  return limit == Limit::multiply_add ? "FLOP/s" : "B/s";
}

std::string short_unit(const char* unit) {
  return std::string(unit) == "FLOP" ? "GF/s" : fmt::format("G{}/s", unit);
}

std::string duration(double seconds) {
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.1f} us", seconds * 1e6);
}

std::string megabytes(std::int64_t bytes) {
  return bytes < 0 ? "-" : fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

double limit_of(const CaseResult& result, const Limits& limits) {
  return limits.best({result.asked.limit, result.asked.set, result.asked.threads});
}

}  // namespace

void print_machine(const Facts& facts, const Limits& limits) {
  fmt::print("{}, {} cores, {}\n{}\n", facts.cpu, facts.cores, facts.system, facts.compiler);
  if (facts.load > 0.5) {
    fmt::print(
        "busy: {:.1f} processes wanted to run over the last minute; times on several "
        "threads suffer most\n",
        facts.load);
  }
  for (const auto& [key, samples] : limits.samples()) {
    fmt::print("  limit {:<13} {:<7} threads:{:<2} {:8.1f} G{}  noise {:.0f} % of {} samples\n",
               name_of(key.limit), key.set, key.threads, limits.best(key) / 1e9,
               unit_of(key.limit), 100 * limits.noise(key), samples.size());
  }
  std::fflush(stdout);
}

void print_row_title(const Row& row) {
  fmt::print("\n{}  {}\n", row.name, row.title);
  std::fflush(stdout);
}

void print_case(const Row& row, const CaseResult& result, const Limits& limits) {
  const Work work = work_of(result.asked);
  const double limit = limit_of(result, limits);
  fmt::print("  {}  [{}]\n", name(row, result.asked), result.asked.set);
  const Result* ours = result.of("attn");
  for (const Result& each : result.results) {
    if (!each.counts() || each.samples.empty()) {
      fmt::print("    {:<15} does not count: {}\n", each.peer,
                 each.problem.empty() ? "no sample" : each.problem);
      continue;
    }
    const double rate = work.amount / each.best();
    const bool beside = ours != nullptr && ours != &each && ours->counts();
    fmt::print(
        "    {:<15} {:>10} {:>8.1f} {:<8} {:>7} extra {:>10}  noise {:>3.0f} %  "
        "error {:.0e} {}{}\n",
        each.peer, duration(each.best()), rate / 1e9, short_unit(work.unit),
        limit > 0 ? fmt::format("{:.1f} %", 100 * rate / limit) : std::string(),
        megabytes(each.extra_bytes), 100 * each.noise(), each.error,
        beside ? fmt::format(" attn is {:.2f}x", each.best() / ours->best()) : std::string(),
        each.route.empty() ? "" : " route " + each.route);
  }
  std::fflush(stdout);
}

void print_verdicts(const Row& row, const std::vector<CaseResult>& results,
                    const Limits& limits) {
  for (const CaseResult& result : results) {
    for (const Claim& claim : result.asked.claims) {
      fmt::print("  {}: {}\n", name(row, result.asked),
                 sentence(judge(claim, result, results, limits)));
    }
  }
  std::fflush(stdout);
}

nlohmann::json json_of(const Facts& facts) {
  return {{"cpu", facts.cpu},           {"flags", facts.flags},   {"family", facts.family},
          {"model", facts.model},       {"cores", facts.cores},   {"load", facts.load},
          {"compiler", facts.compiler}, {"system", facts.system}, {"sets", facts.sets}};
}

nlohmann::json json_of(const Limits& limits) {
  auto list = nlohmann::json::array();
  for (const auto& [key, samples] : limits.samples()) {
    list.push_back({{"limit", name_of(key.limit)},
                    {"set", key.set},
                    {"threads", key.threads},
                    {"unit", unit_of(key.limit)},
                    {"best", limits.best(key)},
                    {"median", median(samples)},
                    {"noise", limits.noise(key)},
                    {"samples", samples.size()}});
  }
  return list;
}

nlohmann::json json_of(const Row& row, const std::vector<CaseResult>& results,
                       const Limits& limits) {
  auto cases = nlohmann::json::array();
  for (const CaseResult& result : results) {
    const Work work = work_of(result.asked);
    const double limit = limit_of(result, limits);
    nlohmann::json one{{"name", name(row, result.asked)},
                       {"threads", result.asked.threads},
                       {"set", result.asked.set},
                       {"work", work.amount},
                       {"unit", work.unit},
                       {"limit", name_of(result.asked.limit)},
                       {"limit_rate", limit}};
    for (const Result& each : result.results) {
      nlohmann::json entry{{"peer", each.peer}, {"counts", each.counts()}};
      if (!each.problem.empty()) entry["problem"] = each.problem;
      if (!each.samples.empty()) {
        entry["seconds"] = each.best();
        entry["rate"] = work.amount / each.best();
        entry["median_seconds"] = median(each.samples);
        entry["noise"] = each.noise();
        entry["repetitions"] = each.samples.size();
        entry["error"] = each.error;
        if (!each.route.empty()) entry["route"] = each.route;
        if (limit > 0) entry["fraction_of_limit"] = work.amount / each.best() / limit;
      }
      if (each.extra_bytes >= 0) entry["extra_bytes"] = each.extra_bytes;
      one["contenders"].push_back(std::move(entry));
    }
    for (const Claim& claim : result.asked.claims) {
      const Verdict verdict = judge(claim, result, results, limits);
      nlohmann::json entry{{"text", sentence(verdict)},    {"floor", claim.floor},
                           {"goal", claim.goal},           {"floor_met", verdict.floor_met},
                           {"goal_met", verdict.goal_met}, {"against", claim.against}};
      if (verdict.value) entry["value"] = *verdict.value;
      one["claims"].push_back(std::move(entry));
    }
    cases.push_back(std::move(one));
  }
  return {{"row", row.name}, {"title", row.title}, {"cases", std::move(cases)}};
}

}  // namespace attn::bench
