#include "tasks/compose/baselines.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/task.hpp"
#include "tasks/compose/notation.hpp"

namespace attn::tasks::compose {
namespace {

constexpr double kAdded = 0.1;  ///< to every count

/// What a token is counted under: its place in the step alone, or also the token that stood in
/// that place a step before.
enum class Before { nothing, same_voice };

class Counts {
 public:
  Counts(const Notation& notation, Before before) : notation_(notation), before_(before) {}

  void add(const Tokens& piece) {
    for (std::size_t i = 0; i < piece.size(); ++i) {
      std::vector<double>& all = counts_[key(piece, i)];
      all.resize(static_cast<std::size_t>(notation_.count()), kAdded);
      all[static_cast<std::size_t>(piece[i])] += 1.0;
    }
  }

  /// Among the tokens that may stand there.
  double log_probability(const Tokens& piece) const {
    const auto count = static_cast<std::size_t>(notation_.count());
    const std::vector<double> none(count, kAdded);
    std::vector<float> penalties(count);
    double sum = 0.0;
    for (std::size_t i = 0; i < piece.size(); ++i) {
      const auto at = counts_.find(key(piece, i));
      const std::vector<double>& all = at == counts_.end() ? none : at->second;
      notation_.forbid(std::span(piece).first(i), penalties.data());
      double whole = 0.0;
      for (std::size_t token = 0; token < count; ++token)
        whole += penalties[token] < 0.0f ? 0.0 : all[token];
      sum += std::log(all[static_cast<std::size_t>(piece[i])] / whole);
    }
    return sum;
  }

 private:
  std::pair<std::size_t, std::int64_t> key(const Tokens& piece, std::size_t i) const {
    const auto slots = static_cast<std::size_t>(notation_.slots());
    const bool knows = before_ == Before::same_voice && i >= slots;
    return {i % slots, knows ? piece[i - slots] : -1};
  }

  const Notation& notation_;
  Before before_;
  std::map<std::pair<std::size_t, std::int64_t>, std::vector<double>> counts_;
};

std::vector<const std::string*> texts_of(const std::vector<Example>& examples,
                                         std::vector<Input>& inputs) {
  inputs.reserve(examples.size());
  std::vector<const std::string*> texts;
  texts.reserve(examples.size());
  for (const Example& example : examples) inputs.push_back(example.input());
  for (const Input& input : inputs) texts.push_back(piece_text(input));
  return texts;
}

}  // namespace

std::vector<Baseline> music_baselines(const Corpus& corpus) {
  std::vector<Input> learnt;
  std::vector<Input> judged;
  const auto train = texts_of(corpus.train, learnt);
  const auto test = texts_of(corpus.test, judged);
  const bool tunes = learnt.front().find<std::string>("tune") != nullptr;
  const std::unique_ptr<Notation> notation =
      notation_of(tunes ? tune_facts(train) : chorale_facts(train), "the training part");
  const std::vector<std::pair<Before, std::string>> kinds{
      {Before::nothing,
       tunes ? "how often each character stands" : "how often each voice has each note"},
      {Before::same_voice,
       tunes ? "what follows each character" : "which note follows in each voice"}};
  std::vector<Baseline> baselines;
  for (const auto& [before, name] : kinds) {
    Counts counts(*notation, before);
    for (const std::string* text : train) counts.add(notation->tokens_of(*text));
    double nats = 0.0;
    double units = 0.0;
    for (const std::string* text : test)
      nats -= counts.log_probability(notation->tokens_of(*text));
    for (const Input& input : judged) units += units_of(input);
    baselines.push_back({name, {{"nats", nats / units}}});
  }
  return baselines;
}

}  // namespace attn::tasks::compose
