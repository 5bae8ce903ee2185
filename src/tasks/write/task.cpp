// write: a text is written on, word by word, by a causal Transformer.

#include "attn/tasks/task.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
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
#include "attn/text/byte_pieces.hpp"
#include "tasks/tasks.hpp"
#include "tasks/write/baselines.hpp"
#include "tasks/write/data.hpp"
#include "tasks/write/llama_file.hpp"
#include "tasks/write/network.hpp"
#include "tasks/write/passages.hpp"

namespace attn::tasks {
namespace {

using Json = nlohmann::json;

/// The variant of a model that learnt from a user's own text.
constexpr const char* kOwn = "own";

std::string text_at(const Json& object, const char* pointer) {
  const Json::json_pointer at(pointer);
  const bool has = object.is_object() && object.contains(at) && object.at(at).is_string();
  return has ? object.at(at).get<std::string>() : "";
}

class WriteTask final : public NetworkTask {
 public:
  const TaskCard& card() const override {
    static const TaskCard kCard{
        .name = "write",
        .about = "a text is written on, word by word",
        .title = "Write on from the beginning of a text",
        .help =
            "A causal Transformer chooses each word by looking at the words before it. The "
            "models that\n"
            "ship are small: they write in the manner of what they learnt from, and nothing "
            "they write\n"
            "is a fact. --variant speeches learnt from the State of the Union addresses, "
            "descriptions\n"
            "from Debian's packages.\n"
            "\nExamples:\n"
            "    attn write \"The people of the United States\"\n"
            "    attn write --variant descriptions \"graphical tool to\"\n"
            "    attn write \"My fellow citizens\" --map looked.svg\n"
            "    attn write \"The war\" --tokens 500 --temperature 1 --top 40 --seed 7\n"
            "    attn write \"Once upon a time\" --model stories260K.bin    llama2.c's layout, "
            "tok512.bin beside it\n"
            "    attn data write --from FOLDER; attn train write --variant dante --out dante\n"
            "    attn train write --data mine.txt --out mine --minutes 20",
        .metric = "bits a character",
        .score = "bits",
        .example = "The people of the United States",
        .variant_flag = "variant",
        .variants = {"speeches", "descriptions"},
        .one_example = "passage",
        .examples = "passages",
        .argument = "texts",
        .argument_help = "The beginning of a text, or - for one a line"};
    return kCard;
  }

  std::vector<Setting> settings() const override {
    using About = Setting::About;
    using Kind = Setting::Kind;
    const auto number = [](const char* flag, const char* member, const char* help, double least,
                           double most, Kind kind = Kind::whole, About about = About::model) {
      return Setting{
          flag, std::string("model.") + member, about, "Write", help, kind, {}, least, most};
    };
    const auto choice = [](const char* flag, const char* member, const char* help,
                           std::vector<std::string> values) {
      return Setting{flag,
                     std::string("model.") + member,
                     About::model,
                     "Write",
                     help,
                     Kind::name,
                     std::move(values)};
    };
    return {
        Setting{"data", "data", About::data, "Data", "Your own text, a file of UTF-8",
                Kind::path},
        Setting{"variant",
                "model.variant",
                About::data,
                "Write",
                "What write learns from",
                Kind::name,
                {"speeches", "descriptions", "dante", "stories", kOwn}},
        number("vocabulary", "vocabulary", "Byte pieces, all 256 bytes among them", 260, 60000,
               Kind::whole, About::tokens),
        number("dim", "dim", "Size of embeddings and states", 8, 2048),
        number("layers", "layers", "Layers of the language model", 1, 48),
        number("rounds", "rounds", "How often its layers run, with the same weights", 1, 16),
        number("heads", "heads", "Attention heads", 1, 64),
        number("key-value-heads", "key_value_heads",
               "Heads of keys and values, which others share; 0: as many as heads", 0, 64),
        number("feed-forward", "feed_forward", "Hidden size of feed-forward layers", 1, 16384),
        number("text-window", "window", "Byte pieces that it reads at once", 8, 4096),
        number("dropout", "dropout", "Share of features dropped in training", 0, 0.9,
               Kind::real),
        choice("norm", "norm", "Norm of the language model", {"rms", "layer"}),
        choice("feed", "feed", "Kind of its feed-forward layers", {"swiglu", "geglu", "plain"}),
        choice("places", "positions", "How it tells positions apart",
               {"rotary", "learned", "none"}),
        choice("rotary-pairs", "rotary_pairs", "Which features turn together",
               {"halves", "interleaved"})};
  }

  std::string misfit(const TrainingRun& run) const override {
    const bool own = !text_at(run.what, "/data").empty();
    if (own != (text_at(run.what, "/model/variant") == kOwn))
      return own ? "--data is a text of your own; leave out --variant"
                 : "--variant own needs --data FILE";
    return "";
  }

  const Writing* writing() const override {
    static const Writing kWriting{};
    return &kWriting;
  }
  std::vector<std::string> taken_variants() const override { return {"stories"}; }

  std::vector<PreparedFile> prepared() const override {
    return {dante_file(), stories_file(), stories_tokens_file()};
  }

  Corpus corpus(const Json& what, const Say& say) const override {
    const std::string own = text_at(what, "/data");
    return own.empty() ? written_corpus(text_at(what, "/model/variant"), say)
                       : own_text(own, say);
  }

  /// Of all passages together: bits of every token, marks included, over characters.
  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override {
    double bits = 0.0;
    double count = 0.0;
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const Input input = examples[i].input();
      bits -= replies[i].answers.front().log_probability / std::log(2.0);
      count += static_cast<double>(characters(passage_of(input).text));
    }
    return {{"bits", count > 0.0 ? bits / count : 0.0}};
  }

  std::vector<Baseline> baselines(const Corpus& corpus) const override {
    return written_baselines(corpus);
  }

 protected:
  Json initial(const Json& asked) const override {
    std::string variant = text_at(asked, "/model/variant");
    if (variant.empty()) variant = text_at(asked, "/data").empty() ? "speeches" : kOwn;
    return {{"data", ""},
            {"data_sha256", ""},
            {"model",
             {{"variant", variant},
              {"vocabulary", 1024},
              {"dim", 96},
              {"layers", 3},
              {"rounds", 2},
              {"heads", 3},
              {"key_value_heads", 0},
              {"feed_forward", 256},
              {"window", 256},
              {"dropout", 0.0},
              {"norm", "layer"},
              {"feed", "swiglu"},
              {"positions", "rotary"},
              {"rotary_pairs", "halves"},
              {"tie", true}}}};
  }

  TrainingOptions training(const Json& what) const override {
    // As much text of either: passages of descriptions are short.
    const bool short_ones = text_at(what, "/model/variant") == "descriptions";
    return {.batch_tokens = 8192,
            .rate = 3e-3,
            .warm_up = 300,
            .smoothing = 0.0,
            .clip = 1.0,
            .decay = 0.01,
            .average = 0.999,
            .evaluate_every = 500,
            .evaluate_on = short_ones ? 300 : 12,
            .patience = 0};
  }

  Lexicon lexicon(const Json& what, const Corpus& corpus, const TrainingTools&) const override {
    const std::string train = joined(corpus.train);
    const auto size = what.at("model").at("vocabulary").get<std::int64_t>();
    Lexicon lexicon;
    lexicon.facts = facts_of(text::BytePieces::learn(std::span(&train, 1), size));
    return lexicon;
  }

  std::shared_ptr<Network> network(const Json& model, Lexicon lexicon,
                                   const std::string& where) const override {
    text::BytePieces pieces = pieces_of(lexicon.facts, where);
    const auto options = language_model_options(model, pieces.size(), where);
    return std::make_shared<WriteNetwork>(options, std::move(pieces),
                                          text_at(model, "/variant"));
  }

  std::shared_ptr<Network> network_of_file(const std::filesystem::path& file) const override {
    return read_llama(file);
  }
  std::shared_ptr<Network> network_taken(const std::string& variant) const override {
    if (variant != "stories") return nullptr;
    const std::string model = read_prepared(stories_file(), name());
    const std::string tokens = read_prepared(stories_tokens_file(), name());
    const std::string& where = stories_file().name;
    return read_llama(
        model,
        read_llama_tokens(tokens, llama_tokens(model, where), stories_tokens_file().name),
        where);
  }
};

}  // namespace

const Task& write_task() {
  static const WriteTask kTask;
  return kTask;
}

}  // namespace attn::tasks
