// remember: a story and a question become an answer that the story tells.

#include "attn/tasks/task.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/text/sha256.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/remember/network.hpp"
#include "tasks/remember/story.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
constexpr std::size_t kMostWords = 20000;

PreparedFile prepared_file() {
  return {"babi-1k.tsv.xz", "56607600d020060690296d11c40759121368e7c69c9633ea7c5f1c9f61b31c08",
          "the bAbI tasks v1.2, English, a thousand questions each (github.com/siddk/"
          "entity-network, tasks/en), CC BY 3.0, Facebook"};
}

/// How many of how many.
struct Share {
  double part = 0.0;
  double all = 0.0;
  double percent() const { return all > 0.0 ? 100.0 * part / all : 0.0; }
};

/// Whether the sentence that some hop looked at most supports the answer.
bool is_supported(const Answer& answer, std::int64_t sentences,
                  const std::vector<std::int64_t>& support) {
  for (std::int64_t hop = 1; answer.numbers.contains(remember::hop_name(hop)); ++hop) {
    const std::vector<float>& weights = answer.numbers.at(remember::hop_name(hop));
    if (weights.empty()) continue;
    const auto top = std::max_element(weights.begin(), weights.end()) - weights.begin();
    const std::int64_t first = sentences - static_cast<std::int64_t>(weights.size());
    if (std::find(support.begin(), support.end(), first + top) != support.end()) return true;
  }
  return false;
}

/// What a question is of: its task, and how it begins.
std::string kind_of(const Example& example) {
  const auto words = remember::words_of(remember::question_of(example.input()));
  return std::to_string(remember::task_of(example)) + " " + words.front();
}

/// The mean over the tasks, whatever their number of questions, as a share of 100.
Scores errors(std::span<const Example> examples, std::span<const std::string> answers) {
  std::map<std::int64_t, Share> tasks;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    Share& task = tasks[remember::task_of(examples[i])];
    task.part += answers[i] == examples[i].targets.front() ? 0.0 : 1.0;
    task.all += 1.0;
  }
  double sum = 0.0;
  for (const auto& [number, share] : tasks) sum += share.percent();
  Scores scores{{"error", sum / static_cast<double>(std::max<std::size_t>(1, tasks.size()))}};
  for (const auto& [number, share] : tasks)
    if (number > 0) scores.push_back({"error " + std::to_string(number), share.percent()});
  return scores;
}

class RememberTask final : public NetworkTask {
 public:
  const TaskCard& card() const override {
    static const TaskCard kCard{
        .name = "remember",
        .about = "a story and a question become an answer",
        .title = "Answer a question about a story",
        .help =
            "The model that ships is an end-to-end memory network: it reads the sentences of a "
            "story one\n"
            "by one, and a question looks at all of them several times, in hops. It learnt the "
            "twenty bAbI\n"
            "tasks: who is where, who carries what, yes or no, how many, why. Its answers are "
            "single words\n"
            "of those (bathroom, apple, yes, two, tired, ...); for words that it never saw it "
            "says so. It\n"
            "remembers the last 50 sentences.\n"
            "\nExamples:\n"
            "    attn remember \"Mary went to the kitchen. John went to the garden.\" \"Where "
            "is "
            "Mary?\"\n"
            "    attn remember STORY.txt \"Where is the milk?\" --map hops.svg\n"
            "    printf 'Mary took the milk.\\tWhat is Mary carrying?\\n' | attn remember -\n"
            "    attn train remember --data stories.txt --out mine --minutes 2",
        .metric = "error",
        .score = "error",
        .example = "",
        .one_example = "question",
        .examples = "questions",
        .reads = TaskCard::Reads::parts,
        .argument = "parts",
        .argument_help = "The story and the question",
        .parts = {{"story", "A text file, or the story itself", true,
                   "Mary got the milk. John moved to the bedroom. Mary went to the kitchen. "
                   "Mary dropped the milk."},
                  {"question", "What is asked about it", false, "Where is the milk?"}}};
    return kCard;
  }

  std::vector<Setting> settings() const override {
    using About = Setting::About;
    using Kind = Setting::Kind;
    const auto model = [](const char* flag, const char* member, const char* help,
                          std::vector<std::string> values) {
      return Setting{flag, member,     About::model,     "Remember",
                     help, Kind::name, std::move(values)};
    };
    const auto number = [](const char* flag, const char* member, const char* help, Kind kind,
                           double least, double most) {
      return Setting{flag, member, About::model, "Remember", help, kind, {}, least, most};
    };
    return {
        {"data", "data", About::data, "Remember",
         "Stories of your own, as bAbI has them: \"1 Mary went home.\", and behind a question "
         "a tab and its answer",
         Kind::path},
        model("memory", "model.memory",
              "What answers: an end-to-end memory network, key-value memory, or an LSTM",
              {"sentences", "key-value", "none"}),
        model("tying", "model.tying", "Tables of the hops of a memory network",
              {"adjacent", "layerwise"}),
        model("exchange", "model.exchange",
              "Whether names change places with others while the bAbI tasks are learnt",
              {"yes", "no"}),
        number("dim", "model.dim", "Features of a sentence", Kind::whole, 4, 1024),
        number("hops", "model.hops", "How often a question looks", Kind::whole, 1, 12),
        number("memories", "model.memories", "Sentences that are remembered", Kind::whole, 1,
               512),
        number("linear-start", "model.linear_start",
               "Steps at first without softmax over the memories", Kind::whole, 0, 1e9),
        number("noise", "model.noise", "Share of empty memories among the sentences",
               Kind::real, 0.0, 0.9),
        number("forget", "model.forget",
               "Share of questions of which a word becomes unknown while learning", Kind::real,
               0.0, 0.9)};
  }

  std::vector<PreparedFile> prepared() const override { return {prepared_file()}; }

  Corpus corpus(const Json& what, const Say&) const override {
    const fs::path path = what.at("data").get<std::string>();
    if (path.empty())
      return remember::parse_prepared(read_prepared(prepared_file(), name()),
                                      prepared_file().name);
    const std::string text = files::read_text(path, kMostBytes);
    Corpus corpus = remember::parse_own(text, files::path_text(path));
    corpus.name = path.filename().string();
    corpus.file = fs::absolute(path).lexically_normal();
    corpus.checksum = text::sha256_hex(std::as_bytes(std::span(text)));
    return corpus;
  }

  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override {
    std::vector<std::string> answers;
    Share supported;
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const Answer& answer = replies[i].answers.front();
      answers.push_back(answer.text);
      const auto support = remember::support_of(examples[i]);
      if (support.empty() || !answer.numbers.contains(remember::hop_name(1))) continue;
      const auto sentences = remember::sentences_of(remember::story_of(examples[i].input()));
      supported.part +=
          is_supported(answer, static_cast<std::int64_t>(sentences.size()), support) ? 1.0
                                                                                     : 0.0;
      supported.all += 1.0;
    }
    Scores scores = errors(examples, answers);
    if (supported.all > 0.0)
      scores.insert(scores.begin() + 1, {"supported", supported.percent()});
    return scores;
  }

  std::vector<Baseline> baselines(const Corpus& corpus) const override {
    std::map<std::string, std::map<std::string, std::size_t>> counts;
    for (const Example& example : corpus.train)
      ++counts[kind_of(example)][example.targets.front()];
    std::vector<std::string> answers;
    for (const Example& example : corpus.test) {
      std::pair<std::string, std::size_t> best;
      for (const auto& [answer, count] : counts[kind_of(example)])
        if (count > best.second) best = {answer, count};
      answers.push_back(best.first);
    }
    return {
        {"the most frequent answer to that kind of question", errors(corpus.test, answers)}};
  }

  std::vector<Contender> contenders() const override {
    const auto with = [](const char* memory, const char* tying) {
      return Json{{"model", {{"memory", memory}, {"tying", tying}}}};
    };
    return {{"adjacent", "end-to-end memory network, adjacent tables",
             with("sentences", "adjacent")},
            {"layerwise", "end-to-end memory network, the same tables in each hop",
             with("sentences", "layerwise")},
            {"key-value", "key-value memory", with("key-value", "adjacent")},
            {"lstm", "an LSTM, which does not look back", with("none", "adjacent")}};
  }

  std::string facts_text(const Corpus& corpus) const override {
    const auto count = [](const std::vector<Example>& part) {
      return std::to_string(part.size());
    };
    std::set<std::string> answers;
    for (const Example& example : corpus.train) answers.insert(example.targets.front());
    return "\n  " + files::printable(corpus.name) + "\n  questions: " + count(corpus.train) +
           " train, " + count(corpus.development) + " development, " + count(corpus.test) +
           " test; parts share no story\n  different answers: " +
           std::to_string(answers.size()) + "\n";
  }

 protected:
  Json initial(const Json&) const override {
    return {{"data", ""},
            {"data_sha256", ""},
            {"model",
             {{"memory", "sentences"},
              {"tying", "adjacent"},
              {"exchange", "yes"},
              {"dim", 64},
              {"hops", 3},
              {"memories", 50},
              {"linear_start", 2000},
              {"noise", 0.1},
              {"forget", 0.02}}}};
  }

  TrainingOptions training(const Json&) const override {
    return {.batch_tokens = 640,
            .rate = 5e-3,
            .warm_up = 500,
            .average = 0.999,
            .evaluate_every = 1000,
            .evaluate_on = 2000,
            .patience = 0};
  }

  Lexicon lexicon(const Json&, const Corpus& corpus, const TrainingTools&) const override {
    std::set<std::string> answers;
    std::vector<std::string> lines;
    const auto add = [&](const std::string& text) {
      std::string line;
      for (const std::string& word : remember::words_of(text)) line += word + " ";
      lines.push_back(std::move(line));
    };
    for (const Example& example : corpus.train) {
      const Input input = example.input();
      add(remember::story_of(input));
      add(remember::question_of(input));
      answers.insert(example.targets.front());
    }
    // An answer is a word of its own, even where no story has it.
    std::vector<text::Piece> pieces;
    std::set<std::string> seen;
    for (const std::string& answer : answers)
      if (seen.insert(remember::token_of(answer)).second)
        pieces.push_back({remember::token_of(answer)});
    const auto words = text::Tokeniser::learn(text::Units::words, lines, kMostWords);
    for (std::int64_t id = text::Mark::unknown + 1; id < words.size(); ++id)
      if (seen.insert(words.label(id)).second) pieces.push_back({words.label(id)});
    Lexicon lexicon;
    lexicon.vocabularies.emplace("words",
                                 text::Tokeniser(text::Units::words, std::move(pieces)));
    lexicon.facts = {{"answers", answers}};
    return lexicon;
  }

  std::shared_ptr<Network> network(const Json& model, Lexicon lexicon,
                                   const std::string& where) const override {
    return std::make_shared<remember::RememberNetwork>(model, lexicon, where);
  }
};

}  // namespace

const Task& remember_task() {
  static const RememberTask kTask;
  return kTask;
}

}  // namespace attn::tasks
