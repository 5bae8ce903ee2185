// parse: the words of a sentence become a tree, each word pointing at the one it depends on.

#include "attn/tasks/task.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "attn/text/sha256.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/loading.hpp"
#include "tasks/parse/baselines.hpp"
#include "tasks/parse/conllu.hpp"
#include "tasks/parse/parser.hpp"
#include "tasks/parse/sentence.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

using parse::Sentence;
using Json = nlohmann::json;

const PreparedFile kTreebank{
    "ud-en-ewt.tsv.xz", "3fe66fbc38616aa64ade9258f2a0650d50d55100c3627eaaaa7bc2f84ba1425e",
    "Universal Dependencies English EWT (github.com/UniversalDependencies/UD_English-EWT), "
    "CC BY-SA 4.0: split, words, tags, heads, relations"};
constexpr std::uint64_t kLargestFile = std::uint64_t{512} << 20;
/// Of a user's own file, every so many sentences one is for development and one for the test.
constexpr std::size_t kOfOwn = 10;

/// A line of the prepared file: split, then four lists between spaces.
Example example_of_line(std::string_view line, std::size_t number, std::string& part) {
  std::array<std::string_view, 5> columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t tab = line.find('\t');
    if ((tab == std::string_view::npos) != (i + 1 == columns.size()))
      fail<FileError>(kTreebank.name, ": line ", number, " has not 5 columns");
    columns[i] = line.substr(0, tab);
    line.remove_prefix(tab == std::string_view::npos ? line.size() : tab + 1);
  }
  part = columns[0];
  std::array<std::vector<std::string_view>, 4> lists;
  for (std::size_t i = 0; i < lists.size(); ++i) lists[i] = text::split_words(columns[i + 1]);
  Example example{.id = "line " + std::to_string(number),
                  .source = std::string(columns[1]),
                  .targets = {""},
                  .parts = {{"words", std::string(columns[1])}}};
  for (std::size_t i = 0; i < lists[0].size(); ++i) {
    if (lists[1].size() != lists[0].size() || lists[2].size() != lists[0].size() ||
        lists[3].size() != lists[0].size())
      fail<FileError>(kTreebank.name, ": line ", number, " has lists of different lengths");
    if (i > 0) example.targets.front() += ' ';
    for (std::size_t list = 1; list < lists.size(); ++list) {
      if (list > 1) example.targets.front() += ':';
      example.targets.front() += lists[list][i];
    }
  }
  return example;
}

Corpus treebank() {
  Corpus corpus;
  corpus.name = "UD English EWT";
  const std::string text = read_prepared(kTreebank, "parse");
  std::string_view rest = text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    std::string part;
    Example example = example_of_line(take_line(rest), number, part);
    (part == "train" ? corpus.train
     : part == "dev" ? corpus.development
                     : corpus.test)
        .push_back(std::move(example));
  }
  return corpus;
}

Corpus own_trees(const std::filesystem::path& path) {
  Corpus corpus;
  corpus.name = path.filename().string();
  corpus.file = path;
  const std::string text = files::read_text(path, kLargestFile);
  corpus.checksum = text::sha256_hex(std::as_bytes(std::span(text)));
  const std::vector<Sentence> sentences = parse::read_conllu(
      text, parse::Columns::trees, files::path_text(path), parse::kMostWords);
  if (sentences.size() < kOfOwn)
    fail<FileError>(files::path_text(path), " has ", sentences.size(), " sentences; at least ",
                    kOfOwn, " are needed for three parts");
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const std::size_t place = i % kOfOwn;
    (place == 0   ? corpus.development
     : place == 1 ? corpus.test
                  : corpus.train)
        .push_back(parse::example_of(sentences[i], "sentence " + std::to_string(i + 1)));
  }
  corpus.notes.push_back("of ten sentences one is for development, one for the test");
  return corpus;
}

class ParseTask final : public NetworkTask {
 public:
  const TaskCard& card() const override {
    static const TaskCard kCard{
        .name = "parse",
        .about = "a sentence becomes a tree: which word depends on which, and how",
        .title = "Parse English: tags, heads and relations of words",
        .help =
            "Words are split, tagged and joined to a tree as in Universal Dependencies; the "
            "answer is\n"
            "CoNLL-U, a word a line: number, word, _, tag, _, _, head, relation, _, spaces. A "
            "file may\n"
            "hold plain text or CoNLL-U, whose words are then taken as they are.\n"
            "\nExamples:\n"
            "    attn parse \"The cat sat on the mat.\"\n"
            "    attn parse \"I don't think she'll come.\" --map tree.svg\n"
            "    attn parse Hello --json\n"
            "    attn parse \"Time flies like an arrow.\" --show --heads all\n"
            "    echo \"We saw her duck.\" | attn parse -\n"
            "    attn train parse --data trees.conllu --out runs/trees --minutes 10",
        .metric = "LAS",
        .score = "LAS",
        .example = "The quick brown fox jumps over the lazy dog.",
        .reads = TaskCard::Reads::files,
        .argument = "files",
        .argument_type = "TEXT|FILE",
        .argument_help =
            "A text in quotes, files of text or of CoNLL-U, or - for a text a line",
        .takes_words = true,
        .heads_help = "With --map or --show: how likely each word is the head of each other"};
    return kCard;
  }

  std::vector<Setting> settings() const override {
    using About = Setting::About;
    using Kind = Setting::Kind;
    const auto size = [](const char* flag, const char* member, const char* help, double least,
                         double most) {
      return Setting{flag, member, About::model, "Parse", help, Kind::whole, {}, least, most};
    };
    const auto share = [](const char* flag, const char* member, const char* help) {
      return Setting{flag, member, About::model, "Parse", help, Kind::real, {}, 0.0, 0.95};
    };
    return {
        {"data", "data", About::data, "Data", "A file of your own: CoNLL-U for parse",
         Kind::path},
        {"arcs",
         "model.arcs",
         About::model,
         "Parse",
         "How a word finds its head; offsets is without attention",
         Kind::name,
         {"biaffine", "offsets"}},
        {"word-table",
         "word_table",
         About::tokens,
         "Parse",
         "Most words that have a vector of their own",
         Kind::whole,
         {},
         4,
         200000},
        {"rarest-word",
         "rarest_word",
         About::tokens,
         "Parse",
         "Least occurrences of such a word",
         Kind::whole,
         {},
         1,
         1000},
        size("word-size", "model.word_size", "Size of a word's vector", 1, 1024),
        size("letter-size", "model.character_size", "Size of a character's vector", 1, 256),
        size("spelling-size", "model.spelling_size", "Size of what a spelling becomes", 1,
             1024),
        size("tag-size", "model.tag_size", "Size of a tag's vector", 1, 256),
        size("state", "model.state", "Size of a recurrent state, in each direction", 1, 1024),
        size("recurrent-layers", "model.layers", "Recurrent layers", 1, 6),
        size("arc-size", "model.arc_size", "Size of a word as head or dependent", 1, 1024),
        size("relation-size", "model.relation_size", "The same, for the relation", 1, 512),
        share("drop", "model.drop", "Dropout between layers of a parser"),
        share("word-drop", "model.word_drop", "Share of words hidden in training")};
  }

  std::vector<PreparedFile> prepared() const override { return {kTreebank}; }

  Corpus corpus(const Json& what, const Say&) const override {
    const std::string data = what.value("data", "");
    return data.empty() ? treebank() : own_trees(data);
  }

  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override {
    parse::Attachment total;
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const auto& output = replies[i].answers.front().output;
      if (!output) fail("attn::tasks::parse: an answer has no words");
      total.add(parse::sentence_of(examples[i]),
                parse::sentences_of(std::get<Table>(*output)).front());
    }
    return total.scores();
  }

  std::vector<Baseline> baselines(const Corpus& corpus) const override {
    return parse::baselines(corpus);
  }

  std::vector<Contender> contenders() const override {
    return {{"biaffine", "biaffine attention", {{"model", {{"arcs", "biaffine"}}}}},
            {"offsets", "without attention", {{"model", {{"arcs", "offsets"}}}}}};
  }

 protected:
  Json initial(const Json&) const override {
    return {{"data", ""},
            {"data_sha256", ""},
            {"word_table", 6000},
            {"rarest_word", 2},
            {"model",
             {{"arcs", "biaffine"},
              {"word_size", 36},
              {"character_size", 24},
              {"spelling_size", 88},
              {"tag_size", 24},
              {"state", 120},
              {"layers", 2},
              {"arc_size", 112},
              {"relation_size", 40},
              {"drop", 0.33},
              {"word_drop", 0.2}}}};
  }

  TrainingOptions training(const Json&) const override {
    return {.batch_tokens = 2048,
            .rate = 3e-3,
            .warm_up = 300,
            .smoothing = 0.0,
            .clip = 5.0,
            .average = 0.999,
            .evaluate_every = 500,
            .evaluate_on = 2001,
            .patience = 0};
  }

  Lexicon lexicon(const Json& what, const Corpus& corpus, const TrainingTools&) const override {
    return parse::learn_lexicon(corpus.train, what.at("word_table").get<std::int64_t>(),
                                what.at("rarest_word").get<std::int64_t>());
  }

  std::shared_ptr<Network> network(const Json& model, Lexicon lexicon,
                                   const std::string& where) const override {
    return parse::make_parser(model, std::move(lexicon), where);
  }
};

}  // namespace

const Task& parse_task() {
  static const ParseTask kTask;
  return kTask;
}

}  // namespace attn::tasks
