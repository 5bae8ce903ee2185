// The search of the taught transcriber: scores of prefixes are sums over paths.

#include "tasks/las/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/read_file.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/init.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/support/learns.hpp"
#include "support/tolerance.hpp"
#include "tasks/las/augment.hpp"
#include "tasks/las/data.hpp"
#include "tasks/las/features.hpp"
#include "tasks/las/listener.hpp"
#include "tasks/las/monotone.hpp"
#include "tasks/las/support.hpp"
#include "tasks/las/task.hpp"
#include "tasks/scratch.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn::tasks::las {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// Log-probabilities [frames, 3] and their tensor of logits.
std::vector<double> random_log_probs(std::int64_t frames) {
  std::vector<double> logs =
      test::random_tensor("logits", {frames, 3}, -2.0, 2.0).to_vector<double>();
  for (std::size_t t = 0; t < logs.size(); t += 3) {
    const double all = std::exp(logs[t]) + std::exp(logs[t + 1]) + std::exp(logs[t + 2]);
    for (std::size_t k = 0; k < 3; ++k) logs[t + k] -= std::log(all);
  }
  return logs;
}

/// The probability of each transcript over 1 and 2, by all paths; 0 is the blank.
std::vector<std::pair<Tokens, double>> transcripts(const std::vector<double>& logs,
                                                   std::int64_t frames) {
  std::vector<std::pair<Tokens, double>> all;
  Tokens path(static_cast<std::size_t>(frames), 0);
  while (true) {
    double log_p = 0.0;
    Tokens tokens;
    for (std::size_t t = 0; t < path.size(); ++t) {
      log_p += logs[3 * t + static_cast<std::size_t>(path[t])];
      if (path[t] != 0 && (t == 0 || path[t] != path[t - 1])) tokens.push_back(path[t]);
    }
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const auto& one) { return one.first == tokens; });
    if (at == all.end())
      all.emplace_back(tokens, std::exp(log_p));
    else
      at->second += std::exp(log_p);
    std::size_t place = 0;
    while (place < path.size() && ++path[place] == 3) path[place++] = 0;
    if (place == path.size()) return all;
  }
}

PrefixScorer::Prefix prefix_of(const PrefixScorer& scorer, const Tokens& tokens) {
  PrefixScorer::Prefix prefix = scorer.empty();
  for (const std::int64_t token : tokens) prefix = scorer.extended(prefix, token);
  return prefix;
}

TEST(LasSearch, ScoresOfPrefixesAreSumsOverPaths) {
  constexpr std::int64_t kFrames = 5;
  const std::vector<double> logs = random_log_probs(kFrames);
  const PrefixScorer scorer(logs, kFrames, 0);
  const auto all = transcripts(logs, kFrames);
  for (const auto& [tokens, probability] : all) {
    const PrefixScorer::Prefix prefix = prefix_of(scorer, tokens);
    EXPECT_NEAR(std::exp(scorer.whole(prefix)), probability, test::kDoubleSum);
    double begins = 0.0;
    for (const auto& [other, p] : all)
      if (other.size() >= tokens.size() &&
          std::equal(tokens.begin(), tokens.end(), other.begin()))
        begins += p;
    EXPECT_NEAR(std::exp(prefix.score), begins, test::kDoubleSum);
  }
  EXPECT_EQ(prefix_of(scorer, {1, 1, 1, 1}).score, kNever);
}

TEST(LasSearch, FindsTheLikeliestTranscript) {
  constexpr std::int64_t kFrames = 6;
  const std::vector<double> logs = random_log_probs(kFrames);
  auto all = transcripts(logs, kFrames);
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.second > b.second; });
  const PrefixScorer scorer(logs, kFrames, 0);
  const std::vector<Spelt> best = search(nullptr, Tensor::zeros({1, kFrames, 1}), scorer,
                                         {.beam = 200, .ctc = 1.0, .first = 1, .end = 0}, 3, 3);
  ASSERT_EQ(best.size(), 3u);
  for (std::size_t i = 0; i < best.size(); ++i) {
    EXPECT_EQ(best[i].tokens, all[i].first) << i;
    EXPECT_NEAR(std::exp(best[i].score), all[i].second, test::kDoubleSum);
    EXPECT_TRUE(best[i].weights.empty());
    EXPECT_TRUE(best[i].finished);
  }
}

}  // namespace
}  // namespace attn::tasks::las
