// The draw of candidates, and the choice by common words.

#include "tasks/chat/candidates.hpp"

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tensor/random.hpp"
#include "tasks/chat/dialogue.hpp"

namespace attn::tasks::chat {
namespace {

/// Draws of another reply, at most: of a few equal ones none may be found.
constexpr int kTries = 100;

using Counts = std::unordered_map<std::string, double>;

Counts counts_of(std::string_view text) {
  Counts counts;
  for (const std::string& turn : turns_of(text))
    for (const std::string& word : words_of(turn)) ++counts[form_of(word)];
  return counts;
}

class TfIdf {
 public:
  explicit TfIdf(std::span<const Example> train) {
    for (const Example& example : train)
      for (const std::string& turn : turns_of(example.source)) {
        ++documents_;
        for (const auto& [word, count] : counts_of(turn)) ++holding_[word];
      }
  }

  double cosine(const Counts& a, const Counts& b) const {
    double product = 0.0;
    for (const auto& [word, count] : b)
      if (const auto at = a.find(word); at != a.end())
        product += weight(word, count) * weight(word, at->second);
    return product == 0.0 ? 0.0 : product / (norm(a) * norm(b));
  }

 private:
  double weight(const std::string& word, double count) const {
    const auto at = holding_.find(word);
    const double holding = at == holding_.end() ? 0.0 : at->second;
    return count * std::log((1.0 + documents_) / (1.0 + holding));
  }

  double norm(const Counts& counts) const {
    double sum = 0.0;
    for (const auto& [word, count] : counts) sum += weight(word, count) * weight(word, count);
    return std::sqrt(sum);
  }

  double documents_ = 0.0;
  Counts holding_;  ///< documents that hold a word
};

}  // namespace

std::vector<std::string> draw_candidates(const std::vector<std::string>& right) {
  Random random(1);
  std::vector<std::string> all;
  all.reserve(right.size());
  for (const std::string& reply : right) {
    std::vector<std::string> lines{reply};
    for (int tries = 0; tries < kTries && lines.size() < kCandidates; ++tries) {
      const std::string& other = right[random.next() % right.size()];
      if (other != reply) lines.push_back(other);
    }
    all.push_back(text_of(lines));
  }
  return all;
}

double tf_idf_choice(std::span<const Example> train, std::span<const Example> part) {
  const TfIdf tf_idf(train);
  double chosen = 0.0;
  for (const Example& example : part) {
    const Counts dialogue = counts_of(example.source);
    std::vector<double> likeness;
    for (const std::string& reply : candidates_of(example.input()))
      likeness.push_back(tf_idf.cosine(dialogue, counts_of(reply)));
    bool right = true;
    for (std::size_t i = 1; i < likeness.size(); ++i)
      right = right && likeness[i] < likeness.front();
    chosen += right ? 1.0 : 0.0;
  }
  return part.empty() ? 0.0 : 100.0 * chosen / static_cast<double>(part.size());
}

}  // namespace attn::tasks::chat
