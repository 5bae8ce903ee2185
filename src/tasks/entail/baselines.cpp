#include "tasks/entail/baselines.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/task.hpp"
#include "tasks/entail/data.hpp"
#include "tasks/entail/network.hpp"
#include "tasks/entail/words.hpp"

namespace attn::tasks::entail {
namespace {

constexpr std::size_t kClasses = 3;
using Counts = std::array<double, kClasses>;

std::size_t index_of(const Example& example) {
  return static_cast<std::size_t>(
      std::find(labels().begin(), labels().end(), example.targets.front()) - labels().begin());
}

/// Words and pairs of neighbours, without their numbers.
std::unordered_set<std::string> hypothesis_features(const Example& example) {
  std::unordered_set<std::string> features;
  std::string before = "<";
  for (const std::string& word : words_of(hypothesis_of(example))) {
    features.insert(word);
    // Short texts.
    // NOLINTNEXTLINE(performance-inefficient-string-concatenation)
    features.insert(before + " " + word);
    before = word;
  }
  return features;
}

std::unordered_set<std::string> pair_features(const Example& example) {
  std::unordered_set<std::string> features;
  const std::vector<std::string> premise = words_of(premise_of(example));
  const std::unordered_set<std::string> known(premise.begin(), premise.end());
  for (const std::string& word : words_of(hypothesis_of(example)))
    features.insert((known.contains(word) ? "+" : "-") + word);
  return features;
}

/// Bernoulli's features that are there, a count of one added to each.
template <class Features>
double naive_bayes(const Corpus& corpus, const Features& features_of) {
  std::unordered_map<std::string, Counts> counts;
  Counts all{};
  for (const Example& example : corpus.train) {
    const std::size_t label = index_of(example);
    all[label] += 1.0;
    for (const std::string& feature : features_of(example)) counts[feature][label] += 1.0;
  }
  double right = 0.0;
  for (const Example& example : corpus.test) {
    Counts score{};
    for (std::size_t i = 0; i < kClasses; ++i) score[i] = std::log(all[i] + 1.0);
    for (const std::string& feature : features_of(example)) {
      const auto at = counts.find(feature);
      if (at == counts.end()) continue;
      for (std::size_t i = 0; i < kClasses; ++i)
        score[i] += std::log((at->second[i] + 1.0) / (all[i] + 2.0));
    }
    const auto best = std::max_element(score.begin(), score.end()) - score.begin();
    right += static_cast<std::size_t>(best) == index_of(example) ? 1.0 : 0.0;
  }
  return 100.0 * right / static_cast<double>(corpus.test.size());
}

double commonest(const Corpus& corpus) {
  std::map<std::string, double> train;
  for (const Example& example : corpus.train) train[example.targets.front()] += 1.0;
  const auto most =
      std::max_element(train.begin(), train.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto right = std::count_if(
      corpus.test.begin(), corpus.test.end(),
      [&](const Example& example) { return example.targets.front() == most->first; });
  return 100.0 * static_cast<double>(right) / static_cast<double>(corpus.test.size());
}

}  // namespace

std::vector<Baseline> baselines(const Corpus& corpus) {
  if (corpus.train.empty() || corpus.test.empty()) return {};
  return {{"the commonest label", {{"accuracy", commonest(corpus)}}},
          {"naive Bayes on the hypothesis alone",
           {{"accuracy", naive_bayes(corpus, hypothesis_features)}}},
          {"naive Bayes on its words and whether the premise has them",
           {{"accuracy", naive_bayes(corpus, pair_features)}}}};
}

}  // namespace attn::tasks::entail
