// The network of chat.

#include "tasks/chat/network.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/models/search.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/chat/batch.hpp"
#include "tasks/chat/dialogue.hpp"
#include "tasks/chat/layers.hpp"
#include "tasks/chat/lesson.hpp"
#include "tasks/chat/vocabulary.hpp"
#include "tasks/chat/writer.hpp"

namespace attn::tasks::chat {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
/// Inside the logarithm: both ways to a word may round to 0.
constexpr double kLeast = 1e-12;
/// In the place of a score that does not count.
constexpr double kNever = -1e9;
/// Unknown words that a note names.
constexpr std::size_t kWordsShown = 5;

LayerOptions layer_options(const nlohmann::json& model, const Vocabulary& vocabulary,
                           const Lexicon& lexicon) {
  const auto whole = [&](const char* key) { return model.at(key).get<std::int64_t>(); };
  const auto& names = attention_names();
  const auto kind = std::find(names.begin(), names.end(),
                              model.at("attention").get_ref<const std::string&>());
  const auto matches = lexicon.start.find("matches");
  return {.attention = static_cast<Attention>(kind - names.begin()),
          .words = vocabulary.words(),
          .outputs = vocabulary.outputs(),
          .dim = whole("dim"),
          .hidden = whole("hidden"),
          .state = whole("state"),
          .pieces = whole("pieces"),
          .matches = whole("matches"),
          .dropout = model.at("dropout").get<double>(),
          .word_dropout = model.at("word_dropout").get<double>(),
          .first_matches = matches == lexicon.start.end() ? Tensor() : matches->second};
}

Table table_of(const State& state) {
  Table table{{"slot", "value"}, {}};
  for (const auto& [slot, value] : state) table.rows.push_back({slot, value});
  return table;
}

/// Whether a turn has nothing to read, and which, from 1; 0: none. Line ends behind the last
/// one are nobody's turn.
std::size_t empty_turn(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  for (std::size_t number = 1;; ++number) {
    const std::size_t end = text.find('\n');
    if (text::split_words(text.substr(0, end)).empty()) return number;
    if (end == std::string_view::npos) return 0;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

const models::SearchOptions& default_search() {
  static const models::SearchOptions kSearch{
      .beam = 1, .max_length = static_cast<std::int64_t>(kMostReply), .no_repeat = 3};
  return kSearch;
}

ChatNetwork::ChatNetwork(const nlohmann::json& model, const Lexicon& lexicon,
                         const std::string& where)
    : model_(model),
      vocabulary_(lexicon, model.at("pieces").get<std::int64_t>(), where),
      layers_(add_unnamed(Layers(layer_options(model, vocabulary_, lexicon)))) {}

std::string ChatNetwork::kind() const {
  return model_.at("attention").get<std::string>();
}

Lesson ChatNetwork::lesson_of(std::span<const Example* const> batch) const {
  Lesson lesson;
  for (const Example* example : batch) lesson.add(*example);
  return lesson;
}

/// -log P of each word, P(w) = g softmax(logits)(w) + (1 - g) the weights where w stands.
Tensor ChatNetwork::writing_loss(const Lesson& lesson, const Encoding& encoding) const {
  const auto write = [&](const std::vector<Line>& lines, const char* start) {
    return layers_.write(
        batch_of_rows(inputs_of(lines, start), vocabulary_.tables(), device()),
        layers_.begin(encoding, positions_of(lines, encoding.turns).to(device())));
  };
  const Layers::Steps replies = write(lesson.replies, kReply);
  const Layers::Steps states = write(lesson.states, kState);
  const Queries queries =
      queries_of(lesson, vocabulary_, encoding.turns, encoding.words, replies.states.size(1),
                 states.states.size(1), layers_.looks());
  const Tensor steps = queries.steps.to(device());
  const auto steps_of = [&](const Tensor& a, const Tensor& b) {
    return embedding(concat({a.flatten(0, 1), b.flatten(0, 1)}, 0), steps);
  };
  const Tensor inputs = steps_of(replies.inputs, states.inputs);
  const Tensor at = steps_of(replies.states, states.states);
  const WordAttention attention = layers_.look(encoding, at, queries.open.to(device()));
  const Tensor generated = exp(gather(log_softmax(layers_.logits(attention, at, inputs)), 2,
                                      queries.targets.to(device()).unsqueeze(-1))
                                   .squeeze(-1));
  Tensor likely = keep_where(generated, queries.in_vocabulary.to(device()));
  if (layers_.looks()) {
    const Tensor gate = layers_.gate(attention, at, inputs);
    const Tensor copies = sum(keep_where(attention.weights, queries.matches.to(device())), -1);
    likely = gate * likely + (1.0 - gate) * copies;
  }
  return sum(keep_where(neg(log(likely + kLeast)), queries.reachable.to(device()))) /
         static_cast<double>(std::max<std::int64_t>(1, queries.count));
}

/// In-batch softmax: the right reply among all replies of the batch.
Tensor ChatNetwork::choosing_loss(const Lesson& lesson, const Encoding& encoding) const {
  const Choosing choosing =
      choosing_of(lesson, encoding.turns, model_.at("matches").get<std::int64_t>(), device());
  if (choosing.replies.numel() == 0) return Tensor::zeros({});
  const Tensor replies =
      embedding(encoding.pooled.flatten(0, 1), choosing.replies.to(device()));
  const Tensor scores = layers_.choose(encoding, replies, choosing.positions.to(device()),
                                       choosing.open.to(device()), choosing.matches);
  return cross_entropy(keep_where(scores, choosing.allowed.to(device()), kNever),
                       choosing.right.to(device()));
}

Learner::Lesson ChatNetwork::loss(std::span<const Example* const> batch) const {
  const Lesson lesson = lesson_of(batch);
  const Encoding encoding =
      layers_.read(batch_of(lesson.dialogues, vocabulary_.tables(), device()));
  const Tensor loss = writing_loss(lesson, encoding) +
                      choosing_loss(lesson, encoding) * model_.at("choose").get<double>();
  return {loss, static_cast<std::int64_t>(lesson.replies.size())};
}

/// Turns are what fills a batch: a dialogue is padded to the longest.
std::int64_t ChatNetwork::cost(const Example& example) const {
  return static_cast<std::int64_t>(dialogue_of(example.source).turns.size());
}

std::string ChatNetwork::refusal(const Input& input) const {
  const auto* text = input.find<std::string>("text");
  if (text == nullptr) return "is missing";
  if (text->size() > kMostBytes)
    return "has " + std::to_string(text->size()) + " bytes; at most " +
           std::to_string(kMostBytes) + " are read";
  if (!files::is_utf8(*text)) return "is not UTF-8";
  if (text->find('\0') != std::string::npos) return "has a NUL byte";
  const std::vector<std::string> turns = turns_of(*text);
  if (turns.empty()) return "is empty; say something, and it replies";
  if (const std::size_t turn = empty_turn(*text); turn != 0)
    return "has an empty turn, number " + std::to_string(turn);
  if (turns.size() % 2 == 0)
    return "has " + std::to_string(turns.size()) +
           " turns and ends with the system's; the last one must be the user's, as the first";
  return "";
}

/// A score for each candidate of each input; empty where there are none.
std::vector<std::vector<float>> ChatNetwork::choices_of(std::span<const Input> inputs,
                                                        const std::vector<Dialogue>& dialogues,
                                                        const Encoding& encoding) const {
  std::vector<std::vector<float>> choices(inputs.size());
  std::vector<WordList> rows;
  std::vector<std::int64_t> last;
  Flags open(encoding.dialogues, encoding.turns);
  MatchMaker matches(model_.at("matches").get<std::int64_t>());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (const std::string& candidate : candidates_of(inputs[i])) {
      const Dialogue dialogue = dialogue_of(candidate);
      rows.push_back(dialogue.turns.front());
      matches.add_reply(dialogue.forms.front());
      choices[i].push_back(0.0f);
    }
    last.push_back(dialogues[i].last());
    open.set_first(static_cast<std::int64_t>(i), dialogues[i].last() + 1);
    matches.add_dialogue(dialogues[i], dialogues[i].last());
  }
  if (rows.empty()) return choices;
  const Tensor replies = layers_.pooled(batch_of_rows(rows, vocabulary_.tables(), device()));
  const auto scores =
      layers_
          .choose(encoding, replies, Tensor::from(last, {encoding.dialogues, 1}).to(device()),
                  open.tensor().unsqueeze(1).to(device()),
                  matches.matches(encoding.dialogues, device()))
          .to_vector<float>();
  std::size_t first = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t one = 0; one < choices[i].size(); ++one)
      choices[i][one] = scores[i * rows.size() + first + one];
    first += choices[i].size();
  }
  return choices;
}

/// What a person should know beside the reply.
void ChatNetwork::tell_of(const Dialogue& dialogue, Reply& reply) const {
  if (dialogue.skipped > 0)
    reply.notes.push_back("the dialogue is long; its last " +
                          std::to_string(dialogue.turns.size()) + " turns are read");
  if (dialogue.cut)
    reply.notes.push_back("of a turn the first " + std::to_string(kMostWords) +
                          " words are read");
  reply.cut = dialogue.skipped > 0 || dialogue.cut;
  // Of the last turn, since that is what is replied to; numbers and marks are always known.
  WordList unknown;
  std::size_t words = 0;
  for (const std::string& word : dialogue.turns.back()) {
    if (std::none_of(word.begin(), word.end(),
                     [](unsigned char c) { return c > 127 || std::isalpha(c) != 0; }))
      continue;
    ++words;
    if (!vocabulary_.knows(word)) unknown.push_back(word);
  }
  reply.unfamiliar = 2 * unknown.size() > words;
  if (!reply.unfamiliar) return;
  std::string some;
  for (std::size_t i = 0; i < std::min(unknown.size(), kWordsShown); ++i)
    some += (i == 0 ? "" : ", ") + files::printable(unknown[i]);
  reply.notes.push_back(std::to_string(unknown.size()) + " of the " + std::to_string(words) +
                        " words of the last turn are unknown to the model (" + some +
                        "): the reply is a guess");
}

std::vector<Reply> ChatNetwork::answer(std::span<const Input> inputs,
                                       const Choices& choices) const {
  if (inputs.empty()) return {};
  std::vector<Dialogue> dialogues;
  for (const Input& input : inputs) dialogues.push_back(dialogue_of(input.text()));
  const Encoding encoding = layers_.read(batch_of(dialogues, vocabulary_.tables(), device()));
  const auto candidate_scores = choices_of(inputs, dialogues, encoding);

  models::SearchOptions search = default_search();
  search.best = choices.best;
  search.beam = choices.beam.value_or(std::max(search.beam, search.best));
  search.length_penalty = choices.length_penalty.value_or(search.length_penalty);
  search.no_repeat = choices.no_repeat.value_or(search.no_repeat);
  search.choice = choices.choice.value_or(search.choice);
  search.temperature = choices.temperature;
  search.top = choices.top;
  search.seed = choices.seed;
  Writer writer(layers_, vocabulary_, encoding, dialogues, kReply);
  const auto lines = writer.search(search);
  Writer state_writer(layers_, vocabulary_, encoding, dialogues, kState);
  const auto states =
      state_writer.search({.max_length = static_cast<std::int64_t>(kMostState)});

  std::vector<Reply> replies;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Reply& reply = replies.emplace_back();
    tell_of(dialogues[i], reply);
    const chat::State state = state_of(state_writer.words_of(i, states[i].front()));
    for (const models::Hypothesis& line : lines[i]) {
      Answer& answer = reply.answers.emplace_back();
      answer.text = sentence_of(writer.words_of(i, line));
      answer.score = line.score;
      answer.log_probability = line.log_probability;
      answer.finished = line.finished;
      answer.target = line.tokens;
      if (choices.weights) answer.weights = writer.weights_of(i, line);
    }
    Answer& best = reply.answers.front();
    if (!state.empty()) best.table = table_of(state);
    if (!candidate_scores[i].empty()) best.numbers[kChoice] = candidate_scores[i];
    reply.pieces.push_back({inputs[i].text(), reply.cut, {}, reply.answers});
  }
  return replies;
}

maps::Map ChatNetwork::map(const Input& input, const Piece& piece, std::string_view) const {
  if (!layers_.looks())
    fail("attn::tasks::chat: a model without attention looks nowhere; there is no picture");
  const Dialogue dialogue = dialogue_of(input.text());
  const Answer& answer = piece.answers.front();
  maps::Alignment picture;
  picture.title = answer.text;
  picture.caption =
      "the weights of turns and words for each word of the reply; the column of a turn (U the "
      "user's, S the system's) has its weight, which its words share";
  picture.row_title = "reply";
  picture.column_title = "dialogue";
  const WordList extra = extra_words(dialogue, vocabulary_);
  for (const std::int64_t token : answer.target) {
    const std::int64_t place = token - vocabulary_.outputs();
    picture.rows.push_back(place < 0 ? vocabulary_.look_of(vocabulary_.form_at(token))
                                     : extra.at(static_cast<std::size_t>(place)));
  }
  for (std::size_t turn = 0; turn < dialogue.turns.size(); ++turn) {
    picture.columns.push_back((turn % 2 == 0 ? "U" : "S") + std::to_string(turn / 2 + 1));
    for (const std::string& word : dialogue.turns[turn]) picture.columns.push_back(word);
  }
  const auto share = [](float weight) { return std::clamp(weight, 0.0f, 1.0f); };
  const float* weight = answer.weights.data();
  for (std::size_t row = 0; row < picture.rows.size(); ++row)
    for (const WordList& turn : dialogue.turns) {
      const float* end = weight + turn.size();
      picture.weights.values.push_back(share(std::accumulate(weight, end, 0.0f)));
      for (; weight != end; ++weight) picture.weights.values.push_back(share(*weight));
    }
  picture.weights.rows = picture.rows.size();
  picture.weights.columns = picture.columns.size();
  return picture;
}

}  // namespace attn::tasks::chat
