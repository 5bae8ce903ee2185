// SPDX-License-Identifier: Apache-2.0

#include "verdict.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "machine/limits.hpp"
#include "measure.hpp"
#include "problem.hpp"
#include "rows/row.hpp"

namespace attn::bench {
namespace {

const Result* counted(const CaseResult& result, const std::string& peer) {
  const Result* found = result.of(peer);
  return found != nullptr && found->counts() && !found->samples.empty() ? found : nullptr;
}

const CaseResult* other_case(const CaseResult& here, const std::vector<CaseResult>& all,
                             const std::string& problem) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const CaseResult& x) {
    return name(x.asked.problem) == problem && x.asked.threads == here.asked.threads;
  });
  return found == all.end() ? nullptr : &*found;
}

// A megabyte is what the counters of resident memory can tell apart from nothing.
constexpr double kLeastBytes = 1e6;

std::optional<double> value_of(const Claim& claim, const CaseResult& here,
                               const std::vector<CaseResult>& all, const Limits& limits) {
  const Result* ours = counted(here, "attn");
  if (ours == nullptr) return {};
  const double seconds = ours->best();
  const double amount = work_of(here.asked).amount;
  switch (claim.measure) {
    case Measure::fraction_of_limit: {
      const double limit = limits.best({here.asked.limit, here.asked.set, here.asked.threads});
      return limit > 0 ? std::optional(amount / seconds / limit) : std::nullopt;
    }
    case Measure::speedup_over_peer: {
      const Result* peer = counted(here, claim.against);
      return peer != nullptr ? std::optional(peer->best() / seconds) : std::nullopt;
    }
    case Measure::speedup_over_case:
    case Measure::cost_beside_case: {
      const CaseResult* other = other_case(here, all, claim.against);
      const Result* there = other != nullptr ? counted(*other, "attn") : nullptr;
      if (there == nullptr) return {};
      if (claim.measure == Measure::speedup_over_case) return there->best() / seconds;
      return (seconds / amount) / (there->best() / work_of(other->asked).amount);
    }
    case Measure::memory_below_peer: {
      const Result* peer = counted(here, claim.against);
      if (peer == nullptr || peer->extra_bytes < 0 || ours->extra_bytes < 0) return {};
      return static_cast<double>(peer->extra_bytes) /
             std::max(static_cast<double>(ours->extra_bytes), kLeastBytes);
    }
    case Measure::extra_megabytes:
      if (ours->extra_bytes < 0) return {};
      return static_cast<double>(ours->extra_bytes) / 1e6;
  }
  return {};
}

bool holds(Measure measure, double value, double bar) {
  if (measure == Measure::extra_megabytes) return value < bar;
  if (measure == Measure::cost_beside_case) return std::abs(value - 1) <= bar;
  // To the two digits that are printed: 0.996 is no slower than 1.
  if (measure == Measure::speedup_over_peer) return std::round(100 * value) >= 100 * bar;
  return value >= bar;
}

}  // namespace

Verdict judge(const Claim& claim, const CaseResult& result, const std::vector<CaseResult>& all,
              const Limits& limits) {
  Verdict verdict{.claim = claim, .value = value_of(claim, result, all, limits)};
  if (verdict.value) {
    verdict.floor_met = holds(claim.measure, *verdict.value, claim.floor);
    verdict.goal_met = holds(claim.measure, *verdict.value, claim.goal);
  }
  return verdict;
}

std::string sentence(const Verdict& verdict) {
  const Claim& c = verdict.claim;
  const double value = verdict.value.value_or(0);
  std::string text;
  switch (c.measure) {
    case Measure::fraction_of_limit:
      text = fmt::format("{:.1f} % of the limit (floor {:.0f} %, goal {:.0f} %)", 100 * value,
                         100 * c.floor, 100 * c.goal);
      break;
    case Measure::speedup_over_peer:
    case Measure::speedup_over_case:
      text = fmt::format("{:.2f}x the speed of {} (floor {:g}x, goal {:g}x)", value, c.against,
                         c.floor, c.goal);
      break;
    case Measure::cost_beside_case:
      text = fmt::format("{:.2f}x the time per kept pair of {} (accepted 1 ± {:g})", value,
                         c.against, c.floor);
      break;
    case Measure::memory_below_peer:
      text =
          fmt::format("{:.0f}x less memory than {} (floor {:g}x)", value, c.against, c.floor);
      break;
    case Measure::extra_megabytes:
      text = fmt::format("{:.1f} MB beyond inputs and outputs (floor {:g}, goal {:g})", value,
                         c.floor, c.goal);
      break;
  }
  if (!verdict.value) {
    const auto bar = text.find('(');
    return fmt::format("unknown: {} did not run {}", c.against.empty() ? "ours" : c.against,
                       text.substr(bar));
  }
  return text + (verdict.goal_met    ? ": goal met"
                 : verdict.floor_met ? ": floor met"
                                     : ": BELOW FLOOR");
}

}  // namespace attn::bench
