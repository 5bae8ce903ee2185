// chat: a dialogue becomes the system's next reply.

#include "attn/tasks/task.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/models/search.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "attn/text/sha256.hpp"
#include "tasks/chat/candidates.hpp"
#include "tasks/chat/dialogue.hpp"
#include "tasks/chat/layers.hpp"
#include "tasks/chat/network.hpp"
#include "tasks/chat/vocabulary.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

PreparedFile prepared_file() {
  return {"sgd.tsv.xz", "e33117c5e5bee5e9d6b1fe53449cb0dc05b2706d3f85dbbfc56a7b2ee9b48b72",
          "Schema-Guided Dialogue, single-service dialogues (github.com/"
          "google-research-datasets/dstc8-schema-guided-dialogue), CC BY-SA 4.0, Google"};
}

/// Services that training has: of the test part four. Others have slots that no reply to learn
/// from names.
bool is_seen(const std::string& service) {
  static const std::set<std::string> kSeen{
      "Banks_1",    "Buses_1",       "Buses_2",       "Calendar_1",    "Events_1",
      "Events_2",   "Flights_1",     "Flights_2",     "Homes_1",       "Hotels_1",
      "Hotels_2",   "Hotels_3",      "Media_1",       "Movies_1",      "Music_1",
      "Music_2",    "RentalCars_1",  "RentalCars_2",  "Services_1",    "Services_2",
      "Services_3", "RideSharing_1", "RideSharing_2", "Restaurants_1", "own"};
  return kSeen.contains(service);
}

/// How many of how many.
class Share {
 public:
  void add(bool is_part) {
    part_ += is_part ? 1.0 : 0.0;
    all_ += 1.0;
  }
  bool any() const { return all_ > 0.0; }
  double percent() const { return any() ? 100.0 * part_ / all_ : 0.0; }

 private:
  double part_ = 0.0;
  double all_ = 0.0;
};

/// Whether the first candidate, the right one, has the largest score alone.
bool is_first(const std::vector<float>& choice) {
  return std::all_of(choice.begin() + 1, choice.end(),
                     [&](float other) { return other < choice.front(); });
}

chat::State state_in(const Answer& answer) {
  chat::State state;
  if (answer.table)
    for (const auto& row : answer.table->rows)
      state.emplace_back(std::get<std::string>(row[0]), std::get<std::string>(row[1]));
  return state;
}

std::vector<std::string> texts_in(const nlohmann::json& turns) {
  std::vector<std::string> texts;
  if (!turns.is_array()) fail("the field \"turns\" must be a list of texts");
  for (const nlohmann::json& turn : turns) {
    if (!turn.is_string()) fail("the field \"turns\" must be a list of texts");
    texts.push_back(turn.get<std::string>());
  }
  return texts;
}

class ChatTask final : public NetworkTask {
 public:
  const TaskCard& card() const override {
    static const TaskCard kCard{
        .name = "chat",
        .about = "a dialogue becomes the next reply",
        .title = "Reply in a dialogue about tables, rooms, films, buses and the like",
        .help =
            "Without turns it is a dialogue: it replies to each line and remembers what was "
            "said; :new\n"
            "begins anew. The model that ships learnt how an assistant talks that finds and "
            "books\n"
            "restaurants, hotels, films, buses, flights, doctors and the like. It has no "
            "database: what\n"
            "only one could know, such as the name of a restaurant, stands in brackets, "
            "[restaurant name].\n"
            "What you said it copies, and it keeps a list of what you want. It reads the last "
            "24 turns.\n"
            "\nExamples:\n"
            "    attn chat\n"
            "    attn chat \"I want a table for two in San Jose.\" \"What time?\" \"At "
            "seven.\"\n"
            "    attn chat \"I need a bus from Fresno to Anaheim on March 5th.\" --map "
            "bus.svg\n"
            "    printf 'Find me a hotel in London.\\n' | attn chat --json -",
        .metric = "right of ten",
        .score = "right of ten",
        .example = "I need a bus from Fresno to Anaheim on March 5th.",
        .one_example = "dialogue",
        .examples = "dialogues",
        .reads = TaskCard::Reads::turns,
        .argument = "turns",
        .argument_help =
            "The turns of one dialogue, yours first and last; none: a dialogue line by line; "
            "-: a\ndialogue a line, tabs between turns",
        .steers = false};
    return kCard;
  }

  const models::SearchOptions* search() const override { return &chat::default_search(); }

  std::vector<std::string> fields() const override { return {"turns", "text"}; }

  Input input_of(const Json& request) const override {
    if (request.contains("turns") == request.contains("text"))
      fail(
          "the field \"turns\", a list of texts, or the field \"text\", a turn a line, is "
          "wanted: one of them");
    if (request.contains("turns")) return chat::text_of(texts_in(request.at("turns")));
    if (!request.at("text").is_string()) fail("the field \"text\" must be a text");
    return request.at("text").get<std::string>();
  }

  std::vector<Setting> settings() const override {
    using About = Setting::About;
    using Kind = Setting::Kind;
    const auto number = [](const char* flag, const char* member, const char* help, Kind kind,
                           double least, double most) {
      return Setting{flag, member, About::model, "Chat", help, kind, {}, least, most};
    };
    return {
        {"data", "data", About::data, "Chat",
         "Dialogues of your own: a turn a line, yours first, a blank line between dialogues",
         Kind::path},
        {"attention", "model.attention", About::model, "Chat",
         "Where it looks: at turns and the words of each, at all words alike, or nowhere",
         Kind::name, chat::attention_names()},
        number("dim", "model.dim", "Features of a word", Kind::whole, 4, 1024),
        number("hidden", "model.hidden", "Features of each direction that reads a turn",
               Kind::whole, 4, 1024),
        number("state", "model.state", "Features of a dialogue", Kind::whole, 4, 1024),
        number("pieces", "model.pieces", "Rows that letters of words are hashed to",
               Kind::whole, 1, 1 << 20),
        number("matches", "model.matches", "Rows that shared words are weighed by", Kind::whole,
               1, 1 << 20),
        number("words", "model.words", "Words that are read, at most", Kind::whole, 16,
               1 << 20),
        number("outputs", "model.outputs", "Words that are written, at most", Kind::whole, 16,
               1 << 20),
        number("choose", "model.choose", "Share of the loss that is choosing among replies",
               Kind::real, 0.0, 100.0),
        number("dropout", "model.dropout", "Share of features left out while learning",
               Kind::real, 0.0, 0.9),
        number("word-dropout", "model.word_dropout",
               "Share of words that are known by their letters alone while learning",
               Kind::real, 0.0, 0.9)};
  }

  std::vector<PreparedFile> prepared() const override { return {prepared_file()}; }

  Corpus corpus(const Json& what, const Say&) const override {
    const std::filesystem::path path = what.at("data").get<std::string>();
    if (path.empty())
      return chat::parse_prepared(read_prepared(prepared_file(), name()), prepared_file().name);
    const std::string text = files::read_text(path, kMostBytes);
    Corpus corpus = chat::parse_own(text, files::path_text(path));
    corpus.name = path.filename().string();
    corpus.file = std::filesystem::absolute(path).lexically_normal();
    corpus.checksum = text::sha256_hex(std::as_bytes(std::span(text)));
    return corpus;
  }

  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override {
    Share chosen;
    Share goals;
    std::vector<std::string> written;
    std::vector<std::vector<std::string>> right;
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const Answer& answer = replies[i].answers.front();
      const auto choice = answer.numbers.find(chat::kChoice);
      chosen.add(choice != answer.numbers.end() && is_first(choice->second));
      written.push_back(answer.text);
      right.push_back({examples[i].targets.front()});
      if (is_seen(chat::service_of(examples[i])))
        goals.add(chat::same(state_in(answer),
                             chat::state_of(chat::words_of(examples[i].targets.back()))));
    }
    Scores scores{{"right of ten", chosen.percent()}};
    if (goals.any()) scores.push_back({"joint goal", goals.percent()});
    scores.push_back(tasks::score(Metric::bleu, written, right).front());
    return scores;
  }

  std::vector<Baseline> baselines(const Corpus& corpus) const override {
    return {{"the reply most like the dialogue by TF-IDF",
             {{"right of ten", chat::tf_idf_choice(corpus.train, corpus.test)}}}};
  }

  std::vector<Contender> contenders() const override {
    const auto with = [](const char* attention) {
      return Json{{"model", {{"attention", attention}}}};
    };
    return {{"hierarchical", "turns, then the words of each", with("hierarchical")},
            {"flat", "all words alike", with("flat")},
            {"none", "GRUs, which do not look back", with("none")}};
  }

  std::string facts_text(const Corpus& corpus) const override {
    std::size_t replies = 0;
    for (const Example& example : corpus.train) replies += example.targets.size() / 2;
    return "\n  " + files::printable(corpus.name) + "\n  " +
           std::to_string(corpus.train.size()) +
           " dialogues to learn from (some twice, once with slots in brackets) with " +
           std::to_string(replies) + " replies; " + std::to_string(corpus.development.size()) +
           " replies development, " + std::to_string(corpus.test.size()) +
           " test; parts share no dialogue\n";
  }

 protected:
  Json initial(const Json&) const override {
    return {{"data", ""},
            {"data_sha256", ""},
            {"model",
             {{"attention", "hierarchical"},
              {"dim", 64},
              {"hidden", 64},
              {"state", 96},
              {"pieces", 3000},
              {"matches", 16384},
              {"words", 4000},
              {"outputs", 2000},
              {"choose", 1.0},
              {"dropout", 0.1},
              {"word_dropout", 0.05}}}};
  }

  TrainingOptions training(const Json&) const override {
    return {.batch_tokens = 192,
            .rate = 3e-3,
            .warm_up = 300,
            .average = 0.998,
            .evaluate_every = 500,
            .evaluate_on = 400,
            .patience = 0};
  }

  Lexicon lexicon(const Json& what, const Corpus& corpus, const TrainingTools&) const override {
    const Json& model = what.at("model");
    return chat::learn_lexicon(corpus, model.at("words").get<std::int64_t>(),
                               model.at("outputs").get<std::int64_t>(),
                               model.at("matches").get<std::int64_t>());
  }

  std::shared_ptr<Network> network(const Json& model, Lexicon lexicon,
                                   const std::string& where) const override {
    return std::make_shared<chat::ChatNetwork>(model, lexicon, where);
  }
};

}  // namespace

const Task& chat_task() {
  static const ChatTask kTask;
  return kTask;
}

}  // namespace attn::tasks
