#include "models/search_consensus.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "attn/models/search.hpp"

namespace attn::models {
namespace {

/// A beam's answers are the top of the distribution: as they stand, the likeliest would
/// outvote all. Of 1, 1.5, 2, 2.5, 3 and 4 this was best for summaries with beams of 16 and 32
/// (development part), and within 0.02 of ROUGE-L of the best with 24.
constexpr double kFlatter = 2.0;

using Tokens = std::vector<std::int64_t>;

std::size_t common_subsequence(const Tokens& a, const Tokens& b) {
  std::vector<std::size_t> longest(b.size() + 1, 0);
  for (const std::int64_t token : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = longest[j + 1];
      longest[j + 1] = token == b[j] ? diagonal + 1 : std::max(above, longest[j]);
      diagonal = above;
    }
  }
  return longest.back();
}

double common_share(const Tokens& a, const Tokens& b) {
  if (a.empty() && b.empty()) return 1.0;
  return 2.0 * static_cast<double>(common_subsequence(a, b)) /
         static_cast<double>(a.size() + b.size());
}

}  // namespace

void order_by_consensus(std::vector<Hypothesis>& answers, const SearchOptions& options) {
  const auto likeness = options.likeness ? options.likeness : common_share;
  double most = -std::numeric_limits<double>::infinity();
  for (const Hypothesis& answer : answers) most = std::max(most, answer.log_probability);
  std::vector<double> agreement(answers.size(), 0.0);
  double sum = 0.0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const double voice = std::exp((answers[i].log_probability - most) / kFlatter);
    sum += voice;
    for (std::size_t j = 0; j < answers.size(); ++j)
      agreement[j] += voice * likeness(answers[j].tokens, answers[i].tokens);
  }
  for (std::size_t i = 0; i < answers.size(); ++i) answers[i].score = agreement[i] / sum;
  std::stable_sort(answers.begin(), answers.end(),
                   [](const Hypothesis& a, const Hypothesis& b) {
                     return a.finished != b.finished ? a.finished : a.score > b.score;
                   });
}

}  // namespace attn::models
