#include "models/search_candidates.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "attn/models/seq2seq.hpp"

namespace attn::models {
namespace {

/// Numbers whose maximum is looked at before each of them is: the compiler makes vectors of
/// them, and few blocks hold a candidate.
constexpr std::size_t kBlock = 64;

float largest(std::span<const float> block) {
  float most = -std::numeric_limits<float>::infinity();
  for (const float number : block) most = number > most ? number : most;
  return most;
}

}  // namespace

void Candidates::insert(const Candidate& candidate) {
  const auto worse = [](const Candidate& a, const Candidate& b) {
    return a.log_probability > b.log_probability;
  };
  if (static_cast<std::int64_t>(best_.size()) == most_) {
    if (!worse(candidate, best_.back())) return;
    best_.pop_back();
  }
  best_.insert(std::upper_bound(best_.begin(), best_.end(), candidate, worse), candidate);
}

void Candidates::offer(std::int64_t row, double log_probability, std::span<const float> next) {
  constexpr auto kFirst = static_cast<std::size_t>(kEos);
  for (std::size_t begin = kFirst; begin < next.size(); begin += kBlock) {
    const auto block = next.subspan(begin, std::min(kBlock, next.size() - begin));
    const bool full = static_cast<std::int64_t>(best_.size()) == most_;
    if (full &&
        !(log_probability + static_cast<double>(largest(block)) > best_.back().log_probability))
      continue;
    for (std::size_t i = 0; i < block.size(); ++i)
      insert({log_probability + static_cast<double>(block[i]), row,
              static_cast<std::int64_t>(begin + i)});
  }
}

}  // namespace attn::models
