// classify: words, data with bad lines, pooling that finds the word that counts, slots,
// refusals, maps and folders.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/debian/index.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "nn/support/learns.hpp"
#include "support/tolerance.hpp"
#include "tasks/classify/corpora.hpp"
#include "tasks/classify/scores.hpp"
#include "tasks/classify/slots.hpp"
#include "tasks/classify/words.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;
using classify::Slot;
using nlohmann::json;
using Words = std::vector<std::string>;
using std::string_literals::operator""s;

const Task& task() {
  return task_named("classify");
}

TEST(ClassifyWords, StandApartFromPunctuationAtTheirEnds) {
  EXPECT_EQ(classify::words_of("See (e.g.) what's on, top-rated!"),
            (Words{"See", "(", "e.g", ".", ")", "what's", "on", ",", "top-rated", "!"}));
  const Words words = classify::words_of("play \"Hey Jude\" now ?");
  std::string again;
  for (const std::string& word : words) again += word + " ";
  EXPECT_EQ(classify::words_of(again), words);
}

TEST(ClassifyWords, OfALongTextAreCut) {
  std::string text;
  for (int i = 0; i < 10000; ++i) text += "word" + std::to_string(i) + ' ';
  for (const auto& reading : {classify::read_words(text), classify::read_sentences(text)}) {
    EXPECT_TRUE(reading.cut);
    EXPECT_EQ(reading.words(), classify::kMostWords);
  }
  // One word, and one that begins no character where the text is cut.
  std::string wide;
  while (wide.size() < std::size_t{1} << 18) wide += "é";
  EXPECT_EQ(classify::read_words("a" + wide).words(), 1u);
  EXPECT_FALSE(classify::read_words("short").cut);
}

TEST(ClassifyWords, HavePiecesWhateverTheyAre) {
  EXPECT_EQ(classify::key_of("ÉTÉ2024"), "été0000");
  for (const std::string& word :
       {std::string("a"), std::string("été"), std::string(500, 'x')}) {
    const auto pieces = classify::pieces_of(classify::key_of(word), 7);
    EXPECT_GE(pieces.size(), 1u);
    EXPECT_LE(pieces.size(), classify::kMostPieces);
    for (const std::int64_t piece : pieces) EXPECT_TRUE(piece >= 0 && piece < 7);
  }
}

TEST(ClassifySlots, AreRunsOfTags) {
  EXPECT_EQ(classify::slots_of(Words{"B-a", "I-a", "O", "I-b", "B-b", "I-a"}),
            (std::vector<Slot>{{"a", 0, 2}, {"b", 3, 4}, {"b", 4, 5}, {"a", 5, 6}}));
  EXPECT_TRUE(classify::is_tag("I-a") && !classify::is_tag("I-") && !classify::is_tag("a"));
}

TEST(ClassifySlots, DecodeToTagsThatFitTogether) {
  // I-b is likeliest for both words, but nothing of b was begun.
  const Words tags{"O", "B-a", "I-a", "I-b"};
  const std::vector<float> log_probs{-2.0f, -1.0f, -9.0f, -0.5f, -2.0f, -9.0f, -1.0f, -0.5f};
  EXPECT_EQ(classify::likeliest_tags(log_probs, tags), (std::vector<std::size_t>{1, 2}));
}

TEST(ClassifySlots, ScoreWholeSlots) {
  classify::SlotScore score;
  score.add({{"a", 0, 2}, {"b", 3, 4}}, {{"a", 0, 2}, {"b", 3, 5}});
  EXPECT_TRUE(test::close(score.f1(), 50.0, test::kDoubleScore));
}

std::string message_of_file(std::string_view text, bool has_slots = false) {
  const Scratch scratch;
  const fs::path path = scratch.write("mine.tsv", text);
  return message_of<FileError>(
      [&] { classify::read_own(path, {.development = 0.1, .test = 0.1}, has_slots, {}); });
}

std::string lines_of_two(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i)
    lines += "text " + std::to_string(i) + (i % 2 == 0 ? "\teven\n" : "\todd\n");
  return lines;
}

TEST(ClassifyData, NamesWhatIsWrongWithAFile) {
  const auto has = [](const std::string& message, std::string_view part) {
    return message.find(part) != std::string::npos;
  };
  EXPECT_EQ(message_of_file(lines_of_two(40)), "");
  EXPECT_TRUE(has(message_of_file(""), "is empty"));
  EXPECT_TRUE(has(message_of_file("a\tx\nb\nc\ty\n"), "line 2 has one column"));
  EXPECT_TRUE(has(message_of_file("a\tx\nb\tx\nc\t x \n"), "all have the label \"x\""));
  const std::string two = message_of_file(lines_of_two(20) + "text  3\teven\n");
  EXPECT_TRUE(has(two, "line 21 says \"even\"") && has(two, "line 4 says \"odd\"")) << two;
  EXPECT_TRUE(has(message_of_file(lines_of_two(20) + "a\tb\tO\n"), "--about slots"));
  EXPECT_TRUE(has(message_of_file("in Rome\tgo\tO\nin Bari\tstay\tO B-x\n", true),
                  "line 1 has 2 words between spaces and 1 tags"));
  EXPECT_TRUE(has(message_of_file("in Rome\tgo\tO X\nin Bari\tstay\tO B-x\n", true), "\"X\""));
}

TEST(ClassifyData, PartsShareNoText) {
  const Corpus corpus = classify::parse_intents(
      "train\ta\tone\ntrain\tb\tTwo\ntrain\ta\tthree\n"
      "dev\ta\tfour\ntest\tb\ttwo\n",
      "the file");
  EXPECT_EQ(corpus.train.size(), 2u);
  EXPECT_EQ(corpus.development.size(), 1u);
  EXPECT_EQ(corpus.test.size(), 1u);
  EXPECT_THROW(classify::parse_intents("train\ta\n", "the file"), FileError);
  EXPECT_THROW(classify::parse_intents("extra\ta\ttext\n", "the file"), FileError);
  EXPECT_THROW(classify::parse_slots("train\ta\tone two\tO\n", "the file"), FileError);
}

TEST(ClassifyData, SectionsAreOfPackagesByPurpose) {
  const auto record = [](const std::string& name, const std::string& section) {
    return "Package: " + name + "\nSource: " + name + "\nSection: " + section +
           "\nDescription-md5: " + name + "\nDescription-en: a tool named " + name +
           "\n It does what such a tool does, and more.\n\n";
  };
  const DebianIndex index = parse_debian(
      record("one", "games") + record("two", "perl") + record("three", "mail"), "", "");
  const Corpus corpus = classify::sections_corpus(index);
  Words labels;
  for (const auto* part : {&corpus.train, &corpus.development, &corpus.test})
    for (const Example& example : *part) labels.push_back(example.targets.front());
  EXPECT_EQ(labels.size(), 2u);
  for (const std::string& label : labels) EXPECT_TRUE(label == "games" || label == "mail");
}

TEST(ClassifyData, OfThePublicCorporaIsWhole) {
  for (const PreparedFile& file : classify::prepared_files())
    if (!has_prepared(file)) GTEST_SKIP() << file.name << " is not in the cache";
  EXPECT_EQ(classify::load_corpus(classify::kIntents, {}).test.size(), 5500u);
  EXPECT_EQ(classify::load_corpus(classify::kBanking, {}).test.size(), 3080u);
  EXPECT_EQ(classify::load_corpus(classify::kSlots, {}).test.size(), 700u);
}

TEST(ClassifyScores, CountTextsOutOfScopeByThemselves) {
  const std::vector<Example> examples{
      {"1", "a", {"x"}}, {"2", "b", {"oos"}}, {"3", "c", {"y"}}};
  std::vector<Reply> replies(3);
  for (const auto& [at, text] : {std::pair(0, "x"), std::pair(1, "y"), std::pair(2, "oos")})
    replies[static_cast<std::size_t>(at)].answers.emplace_back().text = text;
  const Scores scores = classify::score_labels(examples, replies);
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_EQ(scores[0].value, 50.0);
  EXPECT_EQ(scores[1].name, "oos recall");
  EXPECT_EQ(scores[1].value, 0.0);
}

TEST(ClassifyScores, WhereNoLabelIsLikelyATextIsOutOfScope) {
  const auto answer = [](const Labels& labels) { return classify::answer_among(labels).name; };
  EXPECT_EQ(answer({{"a", 0.5}, {"oos", 0.1}}), "a");
  EXPECT_EQ(answer({{"a", 0.1}, {"b", 0.09}, {"oos", 0.05}}), "oos");
  EXPECT_EQ(answer({{"a", 0.1}, {"b", 0.09}}), "a");
}

/// Sentences of words that say nothing, one of which is a colour: the label is its kind.
std::string coloured_texts(int count) {
  const Words warm{"red", "orange", "yellow"};
  const Words cold{"blue", "green", "violet"};
  const Words filling{"one", "two", "three", "four", "five", "six", "seven"};
  std::string lines;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool is_warm = i % 2 == 0;
    for (std::size_t word = 0; word < 12; ++word) {
      const bool is_colour = word == at * 5 % 12;
      lines += is_colour ? (is_warm ? warm : cold)[at / 2 % 3]
                         : filling[(at * 3 + word * word) % filling.size()];
      lines += word == 5 ? ". And " : word == 11 ? "." : " ";
    }
    // Otherwise some texts would be equal.
    lines += " " + std::to_string(i) + (is_warm ? "\twarm\n" : "\tcold\n");
  }
  return lines;
}

std::string table_orders(int count) {
  const Words places{"Rome", "Bari", "Lucca", "New York", "San Marino"};
  const Words things{"pizza", "tea", "rice"};
  std::string lines;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::string& place = places[at % places.size()];
    const std::string& thing = things[at / 5 % things.size()];
    const std::string tags =
        place.find(' ') == std::string::npos ? "B-place" : "B-place I-place";
    const std::string number = std::to_string(i);
    lines += i % 2 == 0
                 ? "get " + thing + " in " + place + " " + number + "\torder\tO B-food O " +
                       tags + " O\n"
                 : "weather of " + place + " " + number + "\tweather\tO O " + tags + " O\n";
  }
  return lines;
}

class Classify : public testing::Test {
 protected:
  fs::path trained(const std::string& kind, const std::string& lines,
                   const std::string& about = classify::kOwn, const std::string& bag = "no",
                   double votes = 0.0) {
    const json asked{{"about", about},
                     {"data", scratch_.write(kind + ".tsv", lines).string()},
                     {"model",
                      {{"kind", kind},
                       {"bag", bag},
                       {"votes", votes},
                       {"dim", 16},
                       {"hidden", 12},
                       {"pieces", 64},
                       {"dropout", 0.0},
                       {"word_dropout", 0.0},
                       {"label_smoothing", 0.0}}}};
    TrainingRun run = task().defaults(asked, nullptr);
    task().read(asked, "the test", run.what);
    run.how.batch_tokens = 300;
    run.how.rate = 1e-2;
    run.how.warm_up = 10;
    run.how.average = 0.9;
    run.how.evaluate_every = 40;
    run.how.patience = 0;
    run.budget.steps = test::most_steps(160);
    run.where.folder = scratch_.path() / (kind + "-" + about);
    const Corpus corpus = task().corpus(run.what, {});
    save_run(run);
    const auto learner = task().learner(run, corpus, {});
    learner->begin(run.where.folder);
    train(*learner, run);
    test_ = corpus.test;
    return run.where.folder;
  }
  static std::string label_of(const Answerer& answerer, const std::string& text) {
    return answerer(text).answers.front().text;
  }

  Scratch scratch_;
  std::vector<Example> test_;
};

constexpr double kLearnt = 90.0;

TEST_F(Classify, LooksAtTheWordThatCounts) {
  for (const std::string& kind : {std::string("flat"), std::string("hierarchical")}) {
    const Answerer answerer(trained(kind, coloured_texts(160)));
    EXPECT_EQ(answerer.model().kind(), kind);
    EXPECT_EQ(answerer.model().variant(), "");
    const double accuracy = task().evaluate(answerer.model(), test_).front().value;
    const std::string text = "two three four. And blue seven.";
    const Reply reply = answerer(text);
    if (test::is_judged()) {
      EXPECT_GT(accuracy, kLearnt);
      EXPECT_EQ(reply.answers.front().text, "cold");
    }
    const auto& labels = std::get<Labels>(*reply.answers.front().output);
    ASSERT_EQ(labels.size(), 2u);
    EXPECT_TRUE(test::close(labels[0].score + labels[1].score, 1.0, test::kFloatModel));
    const auto document =
        std::get<maps::Document>(answerer.model().map(text, reply.pieces.front()));
    maps::validate(document);
    const std::size_t sentences = kind == "flat" ? 1 : 2;
    ASSERT_EQ(document.sentences.size(), sentences);
    std::size_t words = 0;
    double weights = 0.0;
    for (const maps::Word& word : document.sentences.back().words) weights += word.weight;
    for (const maps::Sentence& sentence : document.sentences) words += sentence.words.size();
    EXPECT_TRUE(test::close(weights, 1.0, test::kFloatModel));
    EXPECT_EQ(words, 8u);
  }
}

TEST_F(Classify, HasABaselineWithoutAttention) {
  const Answerer answerer(trained("mean", coloured_texts(160)));
  const std::string text = "two three red five";
  const auto document =
      std::get<maps::Document>(answerer.model().map(text, answerer(text).pieces.front()));
  for (const maps::Word& word : document.sentences.front().words)
    EXPECT_TRUE(test::close(word.weight, 0.25, test::kFloatModel));
}

TEST_F(Classify, WithABagAnswersTheSameWhateverStandsBesideAText) {
  for (const std::string& kind : {std::string("flat"), std::string("hierarchical")})
    for (const auto& [bag, votes] : {std::pair("yes", 0.0), std::pair("tf-idf", 1.0)}) {
      const Answerer answerer(trained(kind, coloured_texts(160), classify::kOwn, bag, votes));
      const std::string text = "two three four. And blue seven.";
      const double alone = answerer(text).answers.front().log_probability;
      std::string longer = text;
      for (int i = 0; i < 3; ++i) longer += " And " + text;
      const std::vector<Input> inputs{Input(text), Input(longer)};
      const std::vector<Reply> replies = answerer.model().answer(inputs, {}, {});
      if (test::is_judged()) {
        EXPECT_EQ(replies[0].answers.front().text, "cold");
      }
      EXPECT_TRUE(
          test::close(replies[0].answers.front().log_probability, alone, test::kFloatModel));
    }
}

/// How much likelier a model calls a text cold than warm, in logarithms.
double coldness(const Answerer& answerer, const std::string& text) {
  const Reply reply = answerer(text);
  double difference = 0.0;
  for (const Label& label : std::get<Labels>(*reply.answers.front().output))
    difference += (label.name == "cold" ? 1.0 : -1.0) * std::log(label.score);
  return difference;
}

TEST_F(Classify, HearsTheVotesAsLoudAsItIsTold) {
  // The same training, for votes take no part in it: only what is added differs.
  std::vector<double> differences;
  const std::string text = "two three four. And blue seven.";
  for (const double votes : {1e-3, 1.0, 2.0})
    differences.push_back(coldness(
        Answerer(trained("flat", coloured_texts(160), classify::kOwn, "no", votes)), text));
  const double once = differences[1] - differences[0];
  EXPECT_GT(once, 0.0);
  EXPECT_NEAR((differences[2] - differences[0]) / once, 1.999 / 0.999, test::kFloatModel);
}

TEST_F(Classify, FindsSlots) {
  const Answerer answerer(trained("flat", table_orders(160), classify::kSlots));
  EXPECT_EQ(answerer.model().variant(), classify::kSlots);
  const Scores scores = task().evaluate(answerer.model(), test_);
  ASSERT_EQ(scores.size(), 3u);
  const std::string text = "get tea in San Marino";
  const Reply reply = answerer(text);
  if (!test::is_judged()) return;
  EXPECT_GT(scores[2].value, kLearnt);
  const Answer& best = reply.answers.front();
  EXPECT_EQ(best.text, "order");
  ASSERT_TRUE(best.table.has_value());
  const std::vector<std::vector<Table::Cell>> rows{{"food", "tea"}, {"place", "San Marino"}};
  EXPECT_EQ(best.table->rows, rows);
  EXPECT_EQ(answerer.model().json_of(text, reply, Detail::none).at("table").at("rows").size(),
            2u);
  const auto map = std::get<maps::Alignment>(answerer.model().map(text, reply.pieces.front()));
  maps::validate(map);
  EXPECT_EQ(map.rows, (Words{"O", "B-food", "O", "B-place", "I-place", "order"}));
  EXPECT_EQ(map.columns, (Words{"get", "tea", "in", "San", "Marino"}));
}

TEST_F(Classify, AnswersAnyTextOrSaysWhyNot) {
  const Answerer answerer(trained("hierarchical", coloured_texts(80)));
  EXPECT_EQ(answerer.refusal(" \n"), "is empty; there is nothing to classify");
  EXPECT_EQ(answerer.refusal("\xFF"), "is not UTF-8");
  EXPECT_EQ(answerer.refusal(std::string("a\0b", 3)), "has a NUL byte");
  std::string text;
  for (int i = 0; i < 10000; ++i) text += "red. ";
  const Reply reply = answerer(text);
  EXPECT_TRUE(reply.cut);
  ASSERT_FALSE(reply.notes.empty());
  EXPECT_NE(reply.notes.front().find("words are read"), std::string::npos);
  EXPECT_TRUE(answerer("qqq zzz").unfamiliar);
  for (const std::string& odd : {"."s, "a\tb"s, "漢字"s, std::string(100000, 'x')})
    EXPECT_FALSE(label_of(answerer, odd).empty());
}

TEST_F(Classify, RefusesAFolderThatDoesNotFitTogether) {
  const fs::path folder = trained("flat", coloured_texts(80));
  const json lexicon = files::read_json(folder / "lexicon.json");
  for (const json& labels : {json::array({"one"}), json::array({"a", "a"}), json("warm")}) {
    json changed = lexicon;
    changed["facts"]["labels"] = labels;
    files::write_json(folder / "lexicon.json", changed);
    EXPECT_THROW(task().load(folder), FileError) << labels;
  }
  files::write_json(folder / "lexicon.json", lexicon);
  EXPECT_NO_THROW(task().load(folder));
}

TEST(ClassifyTask, TellsWhichSettingsDoNotFitTogether) {
  const auto misfit = [](const json& asked) {
    TrainingRun run = task().defaults(asked, nullptr);
    task().read(asked, "the test", run.what);
    return task().misfit(run);
  };
  EXPECT_EQ(misfit({}), "");
  EXPECT_EQ(misfit({{"data", "mine.tsv"}}), "");
  EXPECT_EQ(misfit({{"data", "mine.tsv"}, {"model", {{"kind", "hierarchical"}}}}), "");
  EXPECT_NE(misfit({{"model", {{"kind", "hierarchical"}, {"maxima", "yes"}}}}), "");
  EXPECT_NE(misfit({{"about", "own"}}), "");
  EXPECT_NE(misfit({{"about", "intents"}, {"data", "mine.tsv"}}), "");
  EXPECT_NE(misfit({{"about", "slots"}, {"model", {{"kind", "hierarchical"}}}}), "");
  EXPECT_NE(misfit({{"vectors", "glove"}, {"model", {{"dim", 128}}}}), "");
}

TEST(ClassifyTask, HasBaselinesThatCount) {
  Corpus corpus = classify::parse_intents(
      "train\ta\tred one\ntrain\ta\tred two\ntrain\tb\tblue one\ndev\ta\tred six\n"
      "test\ta\tred three\ntest\tb\tblue three\n",
      "the file");
  const std::vector<Baseline> baselines = task().baselines(corpus);
  ASSERT_EQ(baselines.size(), 2u);
  EXPECT_EQ(baselines[0].scores.front().value, 50.0);
  EXPECT_EQ(baselines[1].scores.front().value, 100.0);
}

}  // namespace
}  // namespace attn::tasks
