#include "attn/models/next_token.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/models/seq2seq.hpp"
#include "models/search_parts.hpp"

namespace attn::models {

std::int64_t next_token(std::span<const float> logits, const NextToken& how) {
  constexpr std::int64_t kFirst = kPad + 1;
  if (static_cast<std::int64_t>(logits.size()) <= kFirst)
    fail("attn::models::next_token: ", logits.size(), " logits; at least ", kFirst + 1,
         " are accepted");
  const auto logit = [&](std::int64_t token) {
    return static_cast<double>(logits[static_cast<std::size_t>(token)]);
  };
  if (how.temperature <= 0.0)
    return std::max_element(logits.begin() + kFirst, logits.end()) - logits.begin();
  std::vector<std::int64_t> tokens(logits.size() - static_cast<std::size_t>(kFirst));
  std::iota(tokens.begin(), tokens.end(), kFirst);
  std::stable_sort(tokens.begin(), tokens.end(),
                   [&](std::int64_t a, std::int64_t b) { return logit(a) > logit(b); });
  if (how.top > 0 && how.top < static_cast<std::int64_t>(tokens.size()))
    tokens.resize(static_cast<std::size_t>(how.top));
  std::vector<double> sums;
  sums.reserve(tokens.size());
  double sum = 0.0;
  for (const std::int64_t token : tokens)
    sums.push_back(sum += std::exp((logit(token) - logit(tokens.front())) / how.temperature));
  if (how.top_p < 1.0) {
    const auto last = std::lower_bound(sums.begin(), sums.end(), how.top_p * sum);
    sums.resize(std::min(sums.size(), static_cast<std::size_t>(last - sums.begin()) + 1));
  }
  const double share = fraction({.temperature = how.temperature,
                                 .top = how.top,
                                 .seed = how.seed,
                                 .row = 0,
                                 .step = how.step});
  const auto at = std::upper_bound(sums.begin(), sums.end(), share * sums.back());
  const auto index = std::min(sums.size() - 1, static_cast<std::size_t>(at - sums.begin()));
  return tokens[index];
}

}  // namespace attn::models
