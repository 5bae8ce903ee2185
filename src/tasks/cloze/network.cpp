#include "tasks/cloze/network.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/init.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/cloze/passage.hpp"
#include "tasks/cloze/reader.hpp"

namespace attn::tasks::cloze {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20;
constexpr std::size_t kMostText = 800;      ///< words, the last ones
constexpr std::size_t kMostQuestion = 120;  ///< words
/// With more unknown words than this share, names aside, an answer says so.
constexpr double kManyUnknown = 0.1;
/// Columns of a picture.
constexpr std::size_t kMostShown = 60;

ReaderOptions reader_options(const nlohmann::json& model, const Lexicon& lexicon,
                             const std::string& where) {
  const auto at = lexicon.vocabularies.find("words");
  if (at == lexicon.vocabularies.end())
    fail<FileError>(where, ": there is no vocabulary of words");
  return {.attention = model.at("attention").get<std::string>(),
          .vocabulary = at->second.size(),
          .words = model.at("words").get<std::int64_t>(),
          .hidden = model.at("hidden").get<std::int64_t>(),
          .dropout = model.at("dropout").get<double>()};
}

bool is_blank(const std::string& token) {
  return token == kBlank;
}

/// The last words of a text that are read.
std::vector<std::string> read_of(const std::string& text) {
  std::vector<std::string> tokens = tokens_of(text);
  if (tokens.size() > kMostText)
    tokens.erase(tokens.begin(), tokens.end() - static_cast<std::ptrdiff_t>(kMostText));
  return tokens;
}

/// The words of a question around its blank that are read.
std::vector<std::string> around_blank(const std::string& question) {
  std::vector<std::string> tokens = tokens_of(question);
  if (tokens.size() <= kMostQuestion) return tokens;
  const auto blank = static_cast<std::size_t>(
      std::find_if(tokens.begin(), tokens.end(), is_blank) - tokens.begin());
  const std::size_t first =
      std::min(blank - std::min(blank, kMostQuestion / 2), tokens.size() - kMostQuestion);
  const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(kMostQuestion)};
}

/// The names of a text, the commonest first, and of equal ones the one that came last.
std::vector<std::string> ranked_names(const std::vector<std::string>& tokens,
                                      const Names& names) {
  struct Seen {
    std::size_t count = 0;
    std::size_t last = 0;
  };
  std::map<std::string, Seen> seen;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (names.contains(tokens[i])) {
      ++seen[tokens[i]].count;
      seen[tokens[i]].last = i;
    }
  std::vector<std::pair<std::string, Seen>> order(seen.begin(), seen.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.count, a.second.last) > std::pair(b.second.count, b.second.last);
  });
  std::vector<std::string> ranked;
  for (const auto& [name, where] : order)
    if (static_cast<std::int64_t>(ranked.size()) < kMostNames) ranked.push_back(name);
  return ranked;
}

/// One of `share` draws.
bool happens(double share, Random& random) {
  return static_cast<double>(random.next() >> 11) * 0x1p-53 < share;
}

/// A share of the names becomes unknown wherever they stand, so that the places of a name tell
/// of it, and not what it is called: those of a user are in no book.
void forget_names(Passage& passage, double share, Random& random) {
  std::vector<bool> gone{false};
  for (std::size_t name = 0; name < passage.candidates.size(); ++name)
    gone.push_back(happens(share, random));
  const auto forget = [&](std::vector<std::int64_t>& words,
                          const std::vector<std::int64_t>& names) {
    for (std::size_t i = 0; i < words.size(); ++i)
      if (gone[static_cast<std::size_t>(names[i])]) words[i] = text::Mark::unknown;
  };
  forget(passage.text, passage.names);
  forget(passage.question, passage.question_names);
}

/// Words that are no names of the text: unknown ones and all.
struct Known {
  std::size_t unknown = 0;
  std::size_t words = 0;

  bool is_strange() const {
    return static_cast<double>(unknown) > kManyUnknown * static_cast<double>(words);
  }
};

Known known_of(const Passage& passage) {
  Known known;
  const auto count = [&](const std::vector<std::int64_t>& words,
                         const std::vector<std::int64_t>& names) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (names[i] > 0) continue;
      ++known.words;
      known.unknown += words[i] == text::Mark::unknown ? 1 : 0;
    }
  };
  count(passage.text, passage.names);
  count(passage.question, passage.question_names);
  return known;
}

std::set<std::string> texts_in(const nlohmann::json& facts, const char* name,
                               const std::string& where) {
  std::set<std::string> texts;
  for (const nlohmann::json& one : files::member(facts, name, where))
    texts.insert(files::to_text(one, where));
  return texts;
}

}  // namespace

ClozeNetwork::ClozeNetwork(const nlohmann::json& model, const Lexicon& lexicon,
                           const std::string& where)
    : model_(model),
      names_{texts_in(lexicon.facts, "common", where), texts_in(lexicon.facts, "names", where)},
      reader_(add_unnamed(Reader(reader_options(model, lexicon, where)))) {
  const text::Tokeniser& words = lexicon.vocabularies.at("words");
  for (std::int64_t id = 0; id < words.size(); ++id) ids_.emplace(words.label(id), id);
}

std::string ClozeNetwork::kind() const {
  return model_.at("attention") == "over" ? "attention_over_attention" : "attention_sum";
}

std::int64_t ClozeNetwork::id_of(const std::string& word) const {
  if (const auto at = ids_.find(word); at != ids_.end()) return at->second;
  const auto small = ids_.find(text::lower(word));
  return small == ids_.end() ? text::Mark::unknown : small->second;
}

Passage ClozeNetwork::passage_of(const Input& input) const {
  const std::vector<std::string> text = read_of(text_of(input));
  const std::vector<std::string> question = around_blank(question_of(input));
  Passage passage;
  passage.candidates = ranked_names(text, names_);
  std::unordered_map<std::string, std::int64_t> numbers;
  for (const std::string& name : passage.candidates) {
    numbers.emplace(name, static_cast<std::int64_t>(numbers.size()) + 1);
    passage.can_be.push_back(std::find(question.begin(), question.end(), name) ==
                             question.end());
  }
  const auto number_of = [&](const std::string& word) {
    const auto at = numbers.find(word);
    return at == numbers.end() ? 0 : at->second;
  };
  for (const std::string& word : text) {
    passage.text.push_back(id_of(word));
    passage.names.push_back(number_of(word));
  }
  for (const std::string& word : question) {
    passage.question.push_back(id_of(word));
    passage.question_names.push_back(number_of(word));
  }
  return passage;
}

Learner::Lesson ClozeNetwork::loss(std::span<const Example* const> batch) const {
  std::vector<Passage> passages;
  std::vector<std::int64_t> answers;
  // A stream of its own, so that dropout draws the same whatever is forgotten.
  Random own(nn::random().next());
  for (const Example* example : batch) {
    passages.push_back(passage_of(example->input()));
    forget_names(passages.back(), model_.at("forget").get<double>(), own);
    const auto& names = passages.back().candidates;
    const auto at = std::find(names.begin(), names.end(), example->targets.front());
    // A name that is not among the most common ones teaches nothing.
    answers.push_back(at == names.end() ? -1 : at - names.begin() + 1);
  }
  const auto count = static_cast<std::int64_t>(answers.size());
  return {cross_entropy(reader_(passages).scores, Tensor::from(answers, {count}).to(device())),
          count};
}

std::int64_t ClozeNetwork::cost(const Example& example) const {
  return static_cast<std::int64_t>(read_of(text_of(example.input())).size());
}

std::string ClozeNetwork::refusal(const Input& input) const {
  for (const auto& [name, text] :
       {std::pair("text", &text_of(input)), {"question", &question_of(input)}}) {
    const std::string has = std::string("has a ") + name;
    if (text->size() > kMostBytes)
      return has + " of " + std::to_string(text->size()) + " bytes; at most " +
             std::to_string(kMostBytes) + " are read";
    if (!files::is_utf8(*text)) return has + " that is not UTF-8";
    if (text->find('\0') != std::string::npos) return has + " with a NUL byte";
  }
  const std::vector<std::string> question = tokens_of(question_of(input));
  const auto blanks = std::count_if(question.begin(), question.end(), is_blank);
  if (blanks != 1)
    return "has a question with " + std::to_string(blanks) + " blanks; one _____ is accepted";
  const Passage passage = passage_of(input);
  if (passage.candidates.empty())
    return "has a text without a name; the answer is one of its names";
  if (std::find(passage.can_be.begin(), passage.can_be.end(), true) == passage.can_be.end())
    return "has a question that has all names of the text already";
  return "";
}

Reply ClozeNetwork::reply(const Input& input, const Passage& passage,
                          const float* chances) const {
  Labels labels;
  for (std::size_t i = 0; i < passage.candidates.size(); ++i)
    if (passage.can_be[i])
      labels.push_back({passage.candidates[i], static_cast<double>(chances[i + 1])});
  std::stable_sort(labels.begin(), labels.end(),
                   [](const Label& a, const Label& b) { return a.score > b.score; });
  Answer best;
  best.text = labels.front().name;
  best.finished = true;
  best.score = best.log_probability = std::log(std::max(labels.front().score, 1e-30));
  best.output = std::move(labels);
  Reply reply;
  const std::size_t words = tokens_of(text_of(input)).size();
  reply.cut = words > kMostText;
  if (reply.cut)
    reply.notes.push_back("the model reads " + std::to_string(kMostText) +
                          " words: the last ones of " + std::to_string(words));
  if (tokens_of(question_of(input)).size() > kMostQuestion)
    reply.notes.push_back("of the question the " + std::to_string(kMostQuestion) +
                          " words around the blank are read");
  const Known known = known_of(passage);
  reply.unfamiliar = known.is_strange();
  if (reply.unfamiliar)
    reply.notes.push_back(std::to_string(known.unknown) + " of " + std::to_string(known.words) +
                          " words are unknown to the model: the name is a guess");
  reply.answers = {best};
  reply.pieces.push_back({text_of(input), reply.cut, {}, {std::move(best)}});
  return reply;
}

std::vector<Reply> ClozeNetwork::answer(std::span<const Input> inputs, const Choices&) const {
  if (inputs.empty()) return {};
  std::vector<Passage> passages;
  for (const Input& input : inputs) passages.push_back(passage_of(input));
  const Tensor chances = softmax(reader_(passages).scores.to(Device::cpu)).contiguous();
  std::vector<Reply> replies;
  replies.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    replies.push_back(
        reply(inputs[i], passages[i],
              chances.data<float>() + i * static_cast<std::size_t>(kMostNames + 1)));
  return replies;
}

/// What the words of the question looked at, and all together, at each name where it stands.
maps::Map ClozeNetwork::map(const Input& input, const Piece& piece, std::string_view) const {
  const Passage passage = passage_of(input);
  const Reader::Result read = reader_(std::span(&passage, 1));
  const Tensor alpha = read.alpha.to(Device::cpu).select(0, 0).contiguous();
  const std::vector<float> all = read.s.to(Device::cpu).select(0, 0).to_vector<float>();
  const std::vector<std::string> text = read_of(text_of(input));
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (passage.names[i] > 0) places.push_back(i);
  if (places.size() > kMostShown)
    places.erase(places.begin(), places.end() - static_cast<std::ptrdiff_t>(kMostShown));
  maps::Alignment picture;
  picture.title = question_of(input) + " " + piece.answers.front().text;
  picture.caption =
      "what each word of the question looks at among the names of the text, and all together";
  picture.row_title = "question";
  picture.column_title = "text";
  for (const std::size_t place : places) picture.columns.push_back(text[place]);
  const auto add_row = [&](const std::string& label, const auto& weight_at) {
    picture.rows.push_back(label);
    for (const std::size_t place : places)
      picture.weights.values.push_back(std::clamp(weight_at(place), 0.0f, 1.0f));
  };
  const auto columns = static_cast<std::size_t>(alpha.size(1));
  if (columns > 1) {
    const std::vector<std::string> question = around_blank(question_of(input));
    const float* weights = alpha.data<float>();
    for (std::size_t word = 0; word < question.size(); ++word)
      add_row(question[word],
              [&](std::size_t place) { return weights[place * columns + word]; });
  }
  add_row("all", [&](std::size_t place) { return all[place]; });
  picture.weights.rows = picture.rows.size();
  picture.weights.columns = picture.columns.size();
  return picture;
}

}  // namespace attn::tasks::cloze
