// What a model of chat takes over from its data.

#include "tasks/chat/vocabulary.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/chat/batch.hpp"
#include "tasks/chat/dialogue.hpp"
#include "tasks/classify/text_batch.hpp"
#include "tasks/classify/words.hpp"

namespace attn::tasks::chat {
namespace {

/// A vocabulary holds none that is longer, in bytes.
constexpr std::size_t kLongest = 64;

using Counted = std::map<std::string, std::int64_t>;

bool fits(const std::string& word) {
  return word.size() <= kLongest && text::split_words(word).size() == 1 &&
         text::normalise(word) == word;
}

/// The commonest, equal ones in order of their letters.
std::vector<std::string> commonest(const Counted& counts, std::int64_t most) {
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [word, count] : counts)
    if (fits(word)) order.emplace_back(-count, word);
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), static_cast<std::size_t>(most)));
  std::vector<std::string> words;
  words.reserve(order.size());
  for (auto& [count, word] : order) words.push_back(std::move(word));
  return words;
}

text::Tokeniser tokeniser_of(const std::vector<std::string>& words) {
  std::vector<text::Piece> pieces;
  pieces.reserve(words.size());
  for (const std::string& word : words) pieces.push_back({word});
  return {text::Units::words, std::move(pieces)};
}

/// How each form is written within sentences, mostly.
class Looks {
 public:
  void add(const std::vector<std::string>& words, bool is_sentence) {
    bool begins = is_sentence;
    for (const std::string& word : words) {
      if (!begins) ++counts_[form_of(word)][word];
      begins = is_sentence && (word == "." || word == "?" || word == "!");
    }
  }

  std::map<std::string, std::string> of(const std::vector<std::string>& forms) const {
    std::map<std::string, std::string> looks;
    for (const std::string& form : forms) {
      const auto seen = counts_.find(form);
      if (seen == counts_.end()) continue;
      const auto best =
          std::max_element(seen->second.begin(), seen->second.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      if (best->first != form) looks[form] = best->first;
    }
    return looks;
  }

 private:
  std::map<std::string, Counted> counts_;
};

/// The square root of each row's inverse document frequency: squared it is a weight.
Tensor first_matches(const Counted& holding, double documents, std::int64_t rows) {
  std::vector<double> held(static_cast<std::size_t>(rows), 0.0);
  for (const auto& [form, count] : holding)
    held[static_cast<std::size_t>(match_bin(form, rows))] += static_cast<double>(count);
  std::vector<float> start;
  start.reserve(held.size());
  for (const double count : held)
    start.push_back(static_cast<float>(
        std::sqrt(std::max(0.0, std::log((documents + 1.0) / (count + 1.0))) /
                  std::log(documents + 2.0))));
  return Tensor::from(start, {rows});
}

}  // namespace

Lexicon learn_lexicon(const Corpus& corpus, std::int64_t words, std::int64_t outputs,
                      std::int64_t matches) {
  Counted read;
  Counted written;
  Counted holding;
  double documents = 0.0;
  Looks looks;
  for (const Example& example : corpus.train) {
    for (const std::string& turn : turns_of(example.source)) {
      std::set<std::string> forms;
      for (const std::string& word : words_of(turn)) {
        ++read[classify::key_of(word)];
        forms.insert(form_of(word));
      }
      for (const std::string& form : forms) ++holding[form];
      documents += 1.0;
    }
    for (std::size_t i = 0; i < example.targets.size(); ++i) {
      const WordList target = words_of(example.targets[i]);
      looks.add(target, i < example.targets.size() / 2);
      for (const std::string& word : target) ++written[form_of(word)];
    }
  }
  const std::vector<std::string> forms = commonest(written, outputs);
  // What is written is read again.
  std::vector<std::string> keys{kReply, kState};
  std::set<std::string> seen{keys.begin(), keys.end()};
  const auto add = [&](const std::string& key) {
    if (fits(key) && seen.insert(key).second) keys.push_back(key);
  };
  for (const std::string& form : forms) add(classify::key_of(form));
  for (const std::string& key : commonest(read, words))
    if (keys.size() < static_cast<std::size_t>(words)) add(key);
  Lexicon lexicon;
  lexicon.vocabularies.emplace("words", tokeniser_of(keys));
  lexicon.vocabularies.emplace("replies", tokeniser_of(forms));
  lexicon.facts = {{"looks", looks.of(forms)}};
  lexicon.start.emplace("matches", first_matches(holding, documents, matches));
  return lexicon;
}

namespace {

const text::Tokeniser& vocabulary_in(const Lexicon& lexicon, const char* name,
                                     const std::string& where) {
  const auto at = lexicon.vocabularies.find(name);
  if (at == lexicon.vocabularies.end() || at->second.units() != text::Units::words)
    fail<FileError>(where, ": there is no vocabulary of words, ", name, ".vocab");
  return at->second;
}

}  // namespace

Vocabulary::Vocabulary(const Lexicon& lexicon, std::int64_t pieces, const std::string& where)
    : tables_(vocabulary_in(lexicon, "words", where), pieces),
      words_(vocabulary_in(lexicon, "words", where).size()),
      outputs_(vocabulary_in(lexicon, "replies", where)) {
  for (std::int64_t id = text::Mark::unknown + 1; id < outputs_.size(); ++id)
    ids_.emplace(outputs_.label(id), id);
  const nlohmann::json& looks = files::member(lexicon.facts, "looks", where);
  if (!looks.is_object()) fail<FileError>(where, ": looks are no object of words");
  for (const auto& [form, look] : looks.items())
    looks_.emplace(form, files::to_text(look, where));
}

std::int64_t Vocabulary::output_of(const std::string& form) const {
  const auto at = ids_.find(form);
  return at == ids_.end() ? std::int64_t{text::Mark::unknown} : at->second;
}

const std::string& Vocabulary::look_of(const std::string& form) const {
  const auto at = looks_.find(form);
  return at == looks_.end() ? form : at->second;
}

bool Vocabulary::knows(const std::string& word) const {
  return tables_.unknown_words({{{word}}, false}) == 0;
}

}  // namespace attn::tasks::chat
