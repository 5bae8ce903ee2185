#include "models/search_sample.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "attn/core/philox.hpp"
#include "attn/models/seq2seq.hpp"

namespace attn::models {
namespace {

/// Between 0 and 1, with 53 bits.
double fraction(const Draw& draw) {
  const auto words =
      philox<std::uint32_t>({static_cast<std::uint32_t>(draw.row),
                             static_cast<std::uint32_t>(draw.step), 0x736179u, 0u},
                            draw.seed);
  const std::uint64_t bits = (static_cast<std::uint64_t>(words.a) << 32 | words.b) >> 11;
  return (static_cast<double>(bits) + 0.5) * 0x1p-53;
}

/// The tokens that may be drawn, in their order.
std::vector<std::int64_t> allowed(std::span<const float> log_probabilities, std::int64_t top) {
  std::vector<std::int64_t> tokens(log_probabilities.size() - static_cast<std::size_t>(kEos));
  std::iota(tokens.begin(), tokens.end(), kEos);
  if (top == 0 || top >= static_cast<std::int64_t>(tokens.size())) return tokens;
  const auto likelier = [&](std::int64_t a, std::int64_t b) {
    const float first = log_probabilities[static_cast<std::size_t>(a)];
    const float second = log_probabilities[static_cast<std::size_t>(b)];
    return first != second ? first > second : a < b;
  };
  std::nth_element(tokens.begin(), tokens.begin() + top - 1, tokens.end(), likelier);
  tokens.resize(static_cast<std::size_t>(top));
  std::sort(tokens.begin(), tokens.end());
  return tokens;
}

}  // namespace

std::int64_t drawn(std::span<const float> log_probabilities, const Draw& draw) {
  const std::vector<std::int64_t> tokens = allowed(log_probabilities, draw.top);
  const auto log_of = [&](std::int64_t token) {
    return static_cast<double>(log_probabilities[static_cast<std::size_t>(token)]);
  };
  double most = log_of(tokens.front());
  for (const std::int64_t token : tokens) most = std::max(most, log_of(token));
  std::vector<double> sums;
  sums.reserve(tokens.size());
  double sum = 0.0;
  for (const std::int64_t token : tokens)
    sums.push_back(sum += std::exp((log_of(token) - most) / draw.temperature));
  const auto at = std::upper_bound(sums.begin(), sums.end(), fraction(draw) * sum);
  const auto index =
      std::min<std::ptrdiff_t>(at - sums.begin(), static_cast<std::ptrdiff_t>(sums.size()) - 1);
  return tokens[static_cast<std::size_t>(index)];
}

}  // namespace attn::models
