#include "tasks/baselines.hpp"

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/neighbours.hpp"
#include "attn/tasks/task.hpp"
#include "attn/text/metrics/bleu.hpp"
#include "attn/text/metrics/rouge.hpp"

namespace attn::tasks {
namespace {

std::vector<std::vector<std::string>> references_of(const Corpus& corpus) {
  std::vector<std::vector<std::string>> references;
  references.reserve(corpus.test.size());
  for (const Example& example : corpus.test) references.push_back(example.targets);
  return references;
}

/// For each test source the target of the training source that is nearest.
std::vector<std::string> nearest_targets(const Corpus& corpus) {
  std::vector<std::string> sources;
  sources.reserve(corpus.train.size());
  for (const Example& example : corpus.train) sources.push_back(example.source);
  const Neighbours neighbours(sources);
  std::vector<std::string> answers;
  answers.reserve(corpus.test.size());
  for (const Example& example : corpus.test)
    answers.push_back(corpus.train[neighbours.nearest(example.source).index].targets[0]);
  return answers;
}

/// Up to ten words; behind "is a", "is an" or "is the" where that is near the beginning.
std::string lead(const std::string& text) {
  constexpr std::ptrdiff_t kWords = 10;
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; words.size() < 2 * kWords && stream >> word;) words.push_back(word);
  auto begin = words.begin();
  for (auto at = words.begin(); at < words.end() - 1 && at - words.begin() < 6; ++at)
    if (*at == "is" && (at[1] == "a" || at[1] == "an" || at[1] == "the")) {
      begin = at + 2;
      break;
    }
  std::string out;
  for (auto at = begin; at < words.end() && at - begin < kWords; ++at)
    out += (out.empty() ? "" : " ") + *at;
  return out;
}

Baseline bleu_of(const char* name, const std::vector<std::string>& answers,
                 const std::vector<std::vector<std::string>>& references) {
  return {name, {{"BLEU", text::corpus_bleu(answers, references).score}}};
}

Baseline rouge_of(const char* name, const std::vector<std::string>& answers,
                  const std::vector<std::vector<std::string>>& references) {
  const text::Rouge rouge = text::corpus_rouge(answers, references);
  return {name,
          {{"ROUGE-1", 100 * rouge.rouge1.f1},
           {"ROUGE-2", 100 * rouge.rouge2.f1},
           {"ROUGE-L", 100 * rouge.rouge_l.f1}}};
}

}  // namespace

std::vector<Baseline> translation_baselines(const Corpus& corpus) {
  if (corpus.test.empty() || corpus.train.empty()) return {};
  std::vector<std::string> sources;
  sources.reserve(corpus.test.size());
  for (const Example& example : corpus.test) sources.push_back(example.source);
  const auto references = references_of(corpus);
  return {bleu_of("the source itself", sources, references),
          bleu_of("nearest training target", nearest_targets(corpus), references)};
}

std::vector<Baseline> summary_baselines(const Corpus& corpus) {
  if (corpus.test.empty() || corpus.train.empty()) return {};
  std::vector<std::string> leads;
  leads.reserve(corpus.test.size());
  for (const Example& example : corpus.test) leads.push_back(lead(example.source));
  const auto references = references_of(corpus);
  return {rouge_of("first ten words", leads, references),
          rouge_of("nearest training target", nearest_targets(corpus), references)};
}

}  // namespace attn::tasks
