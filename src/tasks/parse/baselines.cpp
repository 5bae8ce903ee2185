#include "tasks/parse/baselines.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "tasks/parse/parser.hpp"
#include "tasks/parse/sentence.hpp"

namespace attn::tasks::parse {
namespace {

/// What a key was seen with, by how often.
template <class Key, class Value>
class Counts {
 public:
  void add(const Key& key, const Value& value) { ++counts_[key][value]; }
  /// The commonest; `otherwise` for a key that was never seen.
  Value commonest(const Key& key, const Value& otherwise) const {
    const auto at = counts_.find(key);
    if (at == counts_.end()) return otherwise;
    return std::max_element(at->second.begin(), at->second.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }

 private:
  std::map<Key, std::map<Value, std::size_t>> counts_;
};

/// Where a word of some tag depends: on the root, or on a tag before or behind it.
struct Habit {
  int side = 0;
  std::string tag;

  auto operator<=>(const Habit&) const = default;
};

struct Habits {
  Counts<std::string, Habit> heads;
  Counts<std::string, std::string> relations;
};

const Word& word_at(const Sentence& sentence, std::int64_t number) {
  return sentence.words[static_cast<std::size_t>(number - 1)];
}

Habits learn_habits(const std::vector<Example>& train) {
  Habits habits;
  for (const Example& example : train) {
    const Sentence sentence = sentence_of(example);
    for (std::size_t i = 0; i < sentence.words.size(); ++i) {
      const Word& word = sentence.words[i];
      habits.relations.add(word.tag, word.relation);
      habits.heads.add(word.tag, word.head == 0
                                     ? Habit{}
                                     : Habit{word.head > static_cast<std::int64_t>(i) ? 1 : -1,
                                             word_at(sentence, word.head).tag});
    }
  }
  return habits;
}

/// The nearest word of that tag on that side; without one, the word beside it there, and the
/// root at the edge.
std::int64_t nearest(const Sentence& sentence, std::int64_t number, const Habit& habit) {
  const auto count = static_cast<std::int64_t>(sentence.words.size());
  if (habit.side == 0) return 0;
  for (std::int64_t at = number + habit.side; at >= 1 && at <= count; at += habit.side)
    if (word_at(sentence, at).tag == habit.tag) return at;
  const std::int64_t beside = number + habit.side;
  return beside >= 1 && beside <= count ? beside : 0;
}

using HeadOf = std::function<std::int64_t(const Sentence&, std::int64_t number)>;

Baseline judged(std::string name, const Corpus& corpus, const Habits& habits,
                const HeadOf& head_of) {
  Attachment total;
  for (const Example& example : corpus.test) {
    const Sentence right = sentence_of(example);
    Sentence answer = right;
    for (std::size_t i = 0; i < right.words.size(); ++i) {
      Word& word = answer.words[i];
      word.head = head_of(right, static_cast<std::int64_t>(i) + 1);
      word.relation = word.head == 0 ? "root" : habits.relations.commonest(word.tag, "dep");
    }
    total.add(right, answer);
  }
  return {std::move(name), total.scores()};
}

}  // namespace

void Attachment::add(const Sentence& right, const Sentence& answer) {
  if (right.words.size() != answer.words.size())
    fail("attn::tasks::parse: ", right.words.size(), " words and ", answer.words.size(),
         " in the answer");
  for (std::size_t i = 0; i < right.words.size(); ++i) {
    const Word& one = right.words[i];
    const Word& other = answer.words[i];
    const bool attached = one.head == other.head;
    ++words_;
    attached_ += attached ? 1 : 0;
    labelled_ += attached && one.relation == other.relation ? 1 : 0;
    tagged_ += one.tag == other.tag ? 1 : 0;
  }
}

Scores Attachment::scores() const {
  const auto share = [&](std::size_t count) {
    return 100.0 * static_cast<double>(count) /
           static_cast<double>(std::max<std::size_t>(1, words_));
  };
  return {{"LAS", share(labelled_)}, {"UAS", share(attached_)}, {"tags", share(tagged_)}};
}

std::vector<Baseline> baselines(const Corpus& corpus) {
  const Habits habits = learn_habits(corpus.train);
  return {judged("each word on the next", corpus, habits,
                 [](const Sentence& sentence, std::int64_t number) {
                   const auto count = static_cast<std::int64_t>(sentence.words.size());
                   return number == count ? 0 : number + 1;
                 }),
          judged("each word on the one before", corpus, habits,
                 [](const Sentence&, std::int64_t number) { return number - 1; }),
          judged("nearest word of the tag that its tag mostly depends on", corpus, habits,
                 [&](const Sentence& sentence, std::int64_t number) {
                   return nearest(sentence, number,
                                  habits.heads.commonest(word_at(sentence, number).tag, {}));
                 })};
}

}  // namespace attn::tasks::parse
