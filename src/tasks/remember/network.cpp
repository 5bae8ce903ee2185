#include "tasks/remember/network.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
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
#include "attn/nn/mechanisms/composed/memory_network.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/remember/exchange.hpp"
#include "tasks/remember/reader.hpp"
#include "tasks/remember/story.hpp"

namespace attn::tasks::remember {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20;
/// Words or answers that a note lists.
constexpr std::size_t kListed = 8;

ReaderOptions reader_options(const nlohmann::json& model, std::int64_t vocabulary) {
  return {.memory = model.at("memory").get<std::string>(),
          .tying = model.at("tying").get<std::string>(),
          .vocabulary = vocabulary,
          .dim = model.at("dim").get<std::int64_t>(),
          .hops = model.at("hops").get<std::int64_t>(),
          .memories = model.at("memories").get<std::int64_t>()};
}

const text::Tokeniser& vocabulary_of(const Lexicon& lexicon, const std::string& where) {
  const auto at = lexicon.vocabularies.find("words");
  if (at == lexicon.vocabularies.end())
    fail<FileError>(where, ": there is no vocabulary of words");
  return at->second;
}

/// One of `share` draws.
bool happens(double share, Random& random) {
  return static_cast<double>(random.next() >> 11) * 0x1p-53 < share;
}

/// "bathroom, bedroom and 3 others".
std::string list_of(const std::vector<std::string>& words) {
  std::string list;
  const std::size_t most = words.size() <= kListed + 1 ? words.size() : kListed;
  for (std::size_t i = 0; i < most; ++i) list += (i == 0 ? "" : ", ") + words[i];
  if (most < words.size()) list += " and " + std::to_string(words.size() - most) + " others";
  return list;
}

}  // namespace

std::string hop_name(std::int64_t hop) {
  return "hop " + std::to_string(hop);
}

RememberNetwork::RememberNetwork(const nlohmann::json& model, const Lexicon& lexicon,
                                 const std::string& where)
    : model_(model),
      vocabulary_(vocabulary_of(lexicon, where)),
      reader_(add_unnamed(Reader(reader_options(model, vocabulary_.size())))) {
  for (std::int64_t id = 0; id < vocabulary_.size(); ++id)
    ids_.emplace(vocabulary_.label(id), id);
  for (const nlohmann::json& one : files::member(lexicon.facts, "answers", where)) {
    const std::string& answer = files::to_text(one, where);
    const auto at = ids_.find(token_of(answer));
    if (at == ids_.end())
      fail<FileError>(where, ": the answer ", files::in_quotes(answer),
                      " is not in the vocabulary");
    answers_.push_back(answer);
    answer_ids_.push_back(at->second);
  }
  if (answers_.empty()) fail<FileError>(where, ": there are no answers");
}

std::string RememberNetwork::kind() const {
  const std::string& memory = model_.at("memory").get_ref<const std::string&>();
  return memory == "none"        ? "lstm"
         : memory == "key-value" ? "key_value_memory"
                                 : "memory_network";
}

Words RememberNetwork::ids_of(std::string_view sentence) const {
  Words ids;
  for (const std::string& word : words_of(sentence)) {
    if (ids.size() == kMostWords) break;
    const auto at = ids_.find(word);
    ids.push_back(at == ids_.end() ? text::Mark::unknown : at->second);
  }
  return ids;
}

Memory RememberNetwork::memory_of(const Input& input) const {
  const auto sentences = sentences_of(story_of(input));
  const auto most = model_.at("memories").get<std::size_t>();
  Memory memory;
  for (auto one = sentences.rbegin(); one != sentences.rend() && memory.sentences.size() < most;
       ++one)
    memory.sentences.push_back(ids_of(*one));
  memory.question = ids_of(question_of(input));
  return memory;
}

/// Puts exchanged words in the place of those of a story, where its answer stays one that can
/// be given.
void RememberNetwork::change_words(std::int64_t task, Told& told, const std::string& answer,
                                   Random& random) const {
  const Exchanged words = exchange(task, random);
  const auto target = ids_.find(exchanged(token_of(answer), words));
  if (target == ids_.end() ||
      std::find(answer_ids_.begin(), answer_ids_.end(), target->second) == answer_ids_.end())
    return;
  std::unordered_map<std::int64_t, std::int64_t> changed;
  for (const auto& [from, to] : words) {
    const auto a = ids_.find(from);
    const auto b = ids_.find(to);
    if (a != ids_.end() && b != ids_.end()) changed.emplace(a->second, b->second);
  }
  const auto change = [&](Words& sentence) {
    for (std::int64_t& word : sentence)
      if (const auto at = changed.find(word); at != changed.end()) word = at->second;
  };
  for (Words& sentence : told.memory.sentences) change(sentence);
  change(told.memory.question);
  told.answer = target->second;
}

/// A word of the question that is not its answer becomes unknown wherever it stands, so that
/// names which are not in the vocabulary are followed, too.
void RememberNetwork::forget_a_name(Told& told, Random& random) const {
  Words& question = told.memory.question;
  const std::int64_t word = question[random.next() % question.size()];
  if (word == told.answer) return;
  std::replace(question.begin(), question.end(), word,
               static_cast<std::int64_t>(text::Mark::unknown));
  for (Words& sentence : told.memory.sentences)
    std::replace(sentence.begin(), sentence.end(), word,
                 static_cast<std::int64_t>(text::Mark::unknown));
}

/// Empty memories between the sentences, so that times are not learnt by heart.
void RememberNetwork::add_noise(Memory& memory, Random& random) const {
  const double share = model_.at("noise").get<double>();
  const auto most = model_.at("memories").get<std::size_t>();
  std::vector<Words> noisy;
  for (Words& sentence : memory.sentences) {
    if (happens(share, random)) noisy.emplace_back();
    noisy.push_back(std::move(sentence));
  }
  // What falls off the end is the earliest.
  if (noisy.size() > most) noisy.resize(most);
  memory.sentences = std::move(noisy);
}

RememberNetwork::Told RememberNetwork::told(const Example& example, Random& random) const {
  const std::string& answer = example.targets.front();
  const auto at = ids_.find(token_of(answer));
  Told told{memory_of(example.input()), at == ids_.end() ? text::Mark::unknown : at->second};
  if (model_.at("exchange") == "yes") change_words(task_of(example), told, answer, random);
  if (happens(model_.at("forget").get<double>(), random)) forget_a_name(told, random);
  add_noise(told.memory, random);
  return told;
}

Learner::Lesson RememberNetwork::loss(std::span<const Example* const> batch) const {
  // The one draw of a step: how many there were is how many steps there were, and goes on
  // where a run is resumed.
  Random own(nn::random().next());
  const auto step = static_cast<std::int64_t>(nn::random().drawn());
  const bool starts = step <= model_.at("linear_start").get<std::int64_t>();
  std::vector<Memory> memories;
  std::vector<std::int64_t> answers;
  for (const Example* example : batch) {
    Told one = told(*example, own);
    memories.push_back(std::move(one.memory));
    answers.push_back(one.answer);
  }
  const auto count = static_cast<std::int64_t>(answers.size());
  const Reader::Result result =
      reader_(memories, starts ? nn::MemoryWeights::linear : nn::MemoryWeights::softmax);
  return {cross_entropy(result.logits, Tensor::from(answers, {count}).to(device())), count};
}

/// In three sizes alone: batches of stories of just the same length would each be of one task.
std::int64_t RememberNetwork::cost(const Example& example) const {
  constexpr std::int64_t kShort = 10;
  constexpr std::int64_t kMiddle = 20;
  const auto count = static_cast<std::int64_t>(sentences_of(story_of(example.input())).size());
  return count <= kShort    ? kShort
         : count <= kMiddle ? kMiddle
                            : std::max(kMiddle, model_.at("memories").get<std::int64_t>());
}

std::string RememberNetwork::refusal(const Input& input) const {
  const std::string& story = story_of(input);
  const std::string& question = question_of(input);
  for (const auto& [name, text] : {std::pair("story", &story), {"question", &question}}) {
    const std::string has = std::string("has a ") + name;
    if (text->size() > kMostBytes)
      return has + " of " + std::to_string(text->size()) + " bytes; at most " +
             std::to_string(kMostBytes) + " are read";
    if (!files::is_utf8(*text)) return has + " that is not UTF-8";
    if (text->find('\0') != std::string::npos) return has + " with a NUL byte";
  }
  if (words_of(story).empty()) return "has an empty story; there is nothing to remember";
  if (words_of(question).empty()) return "has an empty question";
  const auto is_known = [](std::int64_t id) { return id != text::Mark::unknown; };
  const Memory memory = memory_of(input);
  if (std::none_of(memory.question.begin(), memory.question.end(), is_known))
    return "asks in words that the model never saw, such as " +
           files::in_quotes(words_of(question).front());
  const bool knows =
      std::any_of(memory.sentences.begin(), memory.sentences.end(), [&](const Words& sentence) {
        return std::any_of(sentence.begin(), sentence.end(), is_known);
      });
  if (!knows)
    return "tells a story in words that the model never saw, such as " +
           files::in_quotes(words_of(story).front());
  return "";
}

std::vector<std::string> RememberNetwork::notes_on(const Input& input) const {
  const auto sentences = sentences_of(story_of(input));
  const auto most = model_.at("memories").get<std::size_t>();
  std::vector<std::string> notes;
  if (sentences.size() > most)
    notes.push_back("the model remembers " + std::to_string(most) +
                    " sentences: the last ones of " + std::to_string(sentences.size()));
  std::vector<std::string> unknown;
  bool cut = false;
  const auto look = [&](std::string_view sentence) {
    const auto words = words_of(sentence);
    cut = cut || words.size() > kMostWords;
    for (const std::string& word : words)
      if (!ids_.contains(word) &&
          std::find(unknown.begin(), unknown.end(), word) == unknown.end())
        unknown.push_back(word);
  };
  for (std::size_t i = sentences.size() - std::min(sentences.size(), most);
       i < sentences.size(); ++i)
    look(sentences[i]);
  look(question_of(input));
  if (cut)
    notes.push_back("of a sentence the first " + std::to_string(kMostWords) +
                    " words are read");
  for (std::string& word : unknown) word = files::printable(word, 40);
  if (!unknown.empty())
    notes.push_back("the model never saw " + list_of(unknown) + "; it answers with one of " +
                    std::to_string(answers_.size()) + " words: " + list_of(answers_));
  return notes;
}

Reply RememberNetwork::reply(const Input& input, const float* chances, const Tensor& weights,
                             std::int64_t row) const {
  Labels labels;
  for (std::size_t i = 0; i < answers_.size(); ++i)
    labels.push_back({answers_[i], static_cast<double>(chances[i])});
  std::stable_sort(labels.begin(), labels.end(),
                   [](const Label& a, const Label& b) { return a.score > b.score; });
  Answer best;
  best.text = labels.front().name;
  best.finished = true;
  best.score = best.log_probability = std::log(std::max(labels.front().score, 1e-30));
  best.output = std::move(labels);
  const auto sentences = sentences_of(story_of(input));
  const std::size_t read = std::min(sentences.size(), model_.at("memories").get<std::size_t>());
  if (weights.defined())
    for (std::int64_t hop = 0; hop < weights.size(1); ++hop) {
      auto latest_first = weights.select(0, row).select(0, hop).to_vector<float>();
      latest_first.resize(read);
      best.numbers[hop_name(hop + 1)] = {latest_first.rbegin(), latest_first.rend()};
    }
  Reply reply;
  reply.cut = read < sentences.size();
  reply.notes = notes_on(input);
  reply.answers = {best};
  reply.pieces.push_back({story_of(input), reply.cut, {}, {std::move(best)}});
  return reply;
}

std::vector<Reply> RememberNetwork::answer(std::span<const Input> inputs,
                                           const Choices&) const {
  if (inputs.empty()) return {};
  std::vector<Memory> memories;
  for (const Input& input : inputs) memories.push_back(memory_of(input));
  const Reader::Result result = reader_(memories);
  const Tensor asked = Tensor::from(answer_ids_, {static_cast<std::int64_t>(answers_.size())});
  const Tensor chances =
      softmax(index_select(result.logits.to(Device::cpu), 1, asked)).contiguous();
  const Tensor weights = result.weights.defined() ? result.weights.to(Device::cpu) : Tensor();
  std::vector<Reply> replies;
  replies.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    replies.push_back(reply(inputs[i], chances.data<float>() + i * answers_.size(), weights,
                            static_cast<std::int64_t>(i)));
  return replies;
}

maps::Map RememberNetwork::map(const Input& input, const Piece& piece, std::string_view) const {
  const Answer& answer = piece.answers.front();
  maps::Alignment picture;
  picture.title = question_of(input) + " " + answer.text;
  picture.caption = "the weights of the sentences in each hop; a row sums to 1";
  picture.row_title = "hop";
  picture.column_title = "story";
  const auto sentences = sentences_of(story_of(input));
  for (std::int64_t hop = 1; answer.numbers.contains(hop_name(hop)); ++hop) {
    const std::vector<float>& weights = answer.numbers.at(hop_name(hop));
    if (hop == 1)
      for (std::size_t i = sentences.size() - weights.size(); i < sentences.size(); ++i)
        picture.columns.emplace_back(sentences[i]);
    picture.rows.push_back(hop_name(hop));
    for (const float weight : weights)
      picture.weights.values.push_back(std::clamp(weight, 0.0f, 1.0f));
  }
  if (picture.rows.empty())
    fail("attn::tasks::remember: an LSTM without memory looks nowhere; there is no picture");
  picture.weights.rows = picture.rows.size();
  picture.weights.columns = picture.columns.size();
  return picture;
}

}  // namespace attn::tasks::remember
