// compose: music is composed, or gone on with, by a Transformer that knows how far back it
// looks.

#include "attn/tasks/task.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
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
#include "tasks/compose/baselines.hpp"
#include "tasks/compose/data.hpp"
#include "tasks/compose/network.hpp"
#include "tasks/compose/notation.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

constexpr const char* kChorale = "chorale";

std::string kind_of(const Json& what) {
  static const Json::json_pointer kKind("/model/kind");
  const bool has = what.is_object() && what.contains(kKind) && what.at(kKind).is_string();
  return has ? what.at(kKind).get<std::string>() : kChorale;
}

class ComposeTask final : public NetworkTask {
 public:
  const TaskCard& card() const override {
    static const TaskCard kCard{.name = "compose",
                                .about = "music is composed, or gone on with",
                                .title = "Compose a chorale or a tune, or go on with one",
                                .help = "",
                                .metric = "nats a step",
                                .score = "nats",
                                .example = "[G,DGB] [D,DFA] [E,EGB] [B,DGB]",
                                .variant_flag = "kind",
                                .variants = {kChorale, "tune"},
                                .one_example = "piece",
                                .examples = "pieces",
                                .argument = "texts",
                                .argument_help = "The beginning in ABC",
                                .own_command = true};
    return kCard;
  }

  std::vector<Setting> settings() const override {
    using About = Setting::About;
    using Kind = Setting::Kind;
    const auto number = [](const char* flag, const char* member, const char* help, double least,
                           double most, Kind kind = Kind::whole) {
      return Setting{
          flag, std::string("model.") + member, About::model, "Compose", help, kind, {}, least,
          most};
    };
    return {
        Setting{"data", "data", About::data, "Data",
                "Music of your own, a file of ABC where X: begins a piece", Kind::path},
        Setting{"kind",
                "model.kind",
                About::data,
                "Compose",
                "What it learns to compose",
                Kind::name,
                {kChorale, "tune"}},
        Setting{"positions",
                "model.positions",
                About::model,
                "Compose",
                "How it tells positions apart",
                Kind::name,
                {"relative", "sinusoidal", "none"}},
        number("dim", "dim", "Size of embeddings and states", 8, 2048),
        number("layers", "layers", "Layers", 1, 48),
        number("heads", "heads", "Attention heads", 1, 64),
        number("feed-forward", "feed_forward", "Hidden size of feed-forward layers", 1, 16384),
        number("text-window", "window",
               "Tokens that it reads at once, four a step of a "
               "chorale",
               8, 4096),
        number("dropout", "dropout", "Share of features dropped in training", 0, 0.9,
               Kind::real)};
  }

  const Writing* writing() const override {
    static const Writing kWriting{
        .tokens = 256, .most_tokens = 20000, .temperature = 1.0, .top_p = 0.95};
    return &kWriting;
  }

  std::vector<PreparedFile> prepared() const override {
    return {compose::chorales_file(), compose::tunes_file()};
  }

  Corpus corpus(const Json& what, const Say&) const override {
    const fs::path path = what.at("data").get<std::string>();
    if (path.empty()) return compose::music_corpus(kind_of(what));
    const std::string text = files::read_text(path, kMostBytes);
    Corpus corpus = compose::parse_own(text, kind_of(what), files::path_text(path));
    corpus.name = path.filename().string();
    corpus.file = fs::absolute(path).lexically_normal();
    corpus.checksum = text::sha256_hex(std::as_bytes(std::span(text)));
    return corpus;
  }

  /// Of all pieces together: nats of every token over steps, or over characters.
  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override {
    double nats = 0.0;
    double units = 0.0;
    for (std::size_t i = 0; i < examples.size(); ++i) {
      nats -= replies[i].answers.front().log_probability;
      units += compose::units_of(examples[i].input());
    }
    return {{"nats", units > 0.0 ? nats / units : 0.0}};
  }

  std::vector<Baseline> baselines(const Corpus& corpus) const override {
    return compose::music_baselines(corpus);
  }

  std::vector<Contender> contenders() const override {
    const auto with = [](const char* positions) {
      return Json{{"model", {{"positions", positions}}}};
    };
    return {{"relative", "a vector for each distance, as the Music Transformer has",
             with("relative")},
            {"sinusoidal", "sines and cosines of the position", with("sinusoidal")},
            {"none", "no positions: earlier notes are a bag", with("none")}};
  }

  std::string facts_text(const Corpus& corpus) const override {
    const auto part = [](const std::vector<Example>& examples) {
      double units = 0.0;
      for (const Example& example : examples) units += compose::units_of(example.input());
      return std::to_string(examples.size()) + " (" +
             std::to_string(static_cast<std::int64_t>(units)) + ")";
    };
    return "\n  " + files::printable(corpus.name) +
           "\n  pieces, and in brackets their steps or characters: " + part(corpus.train) +
           " train, " + part(corpus.development) + " development, " + part(corpus.test) +
           " test\n";
  }

 protected:
  Json initial(const Json& asked) const override {
    const bool tune = kind_of(asked) != kChorale;
    return {{"data", ""},
            {"data_sha256", ""},
            {"model",
             {{"kind", kind_of(asked)},
              {"positions", "relative"},
              {"dim", 128},
              {"layers", 4},
              {"heads", 8},
              {"feed_forward", 384},
              {"window", 640},
              {"dropout", tune ? 0.1 : 0.2}}}};
  }

  TrainingOptions training(const Json& what) const override {
    const bool tune = kind_of(what) != kChorale;
    return {.batch_tokens = tune ? 8192 : 4096,
            .rate = 2e-3,
            .warm_up = 400,
            .smoothing = 0.0,
            .clip = 1.0,
            .decay = 0.05,
            .average = 0.999,
            .evaluate_every = 250,
            .evaluate_on = 400,
            .patience = 0};
  }

  Lexicon lexicon(const Json& what, const Corpus& corpus, const TrainingTools&) const override {
    std::vector<Input> inputs;
    // Few, and their number is not known before.
    // NOLINTNEXTLINE(performance-inefficient-vector-operation)
    for (const Example& example : corpus.train) inputs.push_back(example.input());
    std::vector<const std::string*> texts;
    texts.reserve(inputs.size());
    for (const Input& input : inputs) texts.push_back(compose::piece_text(input));
    Lexicon lexicon;
    lexicon.facts =
        kind_of(what) == kChorale ? compose::chorale_facts(texts) : compose::tune_facts(texts);
    return lexicon;
  }

  std::shared_ptr<Network> network(const Json& model, Lexicon lexicon,
                                   const std::string& where) const override {
    return std::make_shared<compose::ComposeNetwork>(model, lexicon.facts, where);
  }
};

}  // namespace

const Task& compose_task() {
  static const ComposeTask kTask;
  return kTask;
}

}  // namespace attn::tasks
