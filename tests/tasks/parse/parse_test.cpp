// The task parse: it learns a small language of trees, refuses what it cannot read, and draws.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "nn/support/learns.hpp"
#include "support/random.hpp"
#include "tasks/parse/conllu.hpp"
#include "tasks/parse/parser.hpp"
#include "tasks/parse/sentence.hpp"
#include "tasks/parse/tree.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

/// Noun phrases of a determiner, some adjectives and a noun about a verb. What an article
/// depends on is as far away as there are adjectives.
parse::Sentence small_sentence(test::Random& random) {
  parse::Sentence sentence;
  const auto add = [&](const char* form, const char* tag, const char* relation) {
    sentence.words.push_back({.form = form, .tag = tag, .relation = relation});
    return sentence.words.size();
  };
  const char* const nouns[] = {"cat", "dog", "bird"};
  const char* const qualities[] = {"red", "big", "old"};
  std::vector<std::size_t> heads;
  const auto phrase = [&](const char* relation) {
    const std::size_t first = sentence.words.size();
    add("the", "DET", "det");
    for (std::int64_t i = random.whole(0, 3); i > 0; --i)
      add(qualities[random.whole(0, 2)], "ADJ", "amod");
    const std::size_t noun = add(nouns[random.whole(0, 2)], "NOUN", relation);
    for (std::size_t i = first; i + 1 < noun; ++i)
      sentence.words[i].head = static_cast<std::int64_t>(noun);
    heads.push_back(noun);
  };
  phrase("nsubj");
  const auto verb = static_cast<std::int64_t>(add("sees", "VERB", "root"));
  if (random.whole(0, 2) > 0) phrase("obj");
  heads.push_back(add(".", "PUNCT", "punct"));
  for (const std::size_t word : heads) sentence.words[word - 1].head = verb;
  return sentence;
}

class Parse : public testing::Test {
 protected:
  const Task& task() const { return task_named("parse"); }

  fs::path treebank(int count) {
    test::Random random("treebank");
    std::vector<parse::Sentence> sentences;
    for (int i = 0; i < count; ++i) sentences.push_back(small_sentence(random));
    const fs::path path = scratch_.path() / "trees.conllu";
    std::ofstream(path, std::ios::binary) << parse::to_conllu(sentences);
    return path;
  }

  TrainingRun run_on(const fs::path& data, const std::string& name, int steps) {
    TrainingRun run = task().defaults({}, nullptr);
    const nlohmann::json small{{"data", data.string()},
                               {"model",
                                {{"word_size", 8},
                                 {"character_size", 4},
                                 {"spelling_size", 4},
                                 {"tag_size", 4},
                                 {"state", 12},
                                 {"arc_size", 12},
                                 {"relation_size", 8},
                                 {"drop", 0.0}}}};
    task().read(small, "the test", run.what);
    run.how.batch_tokens = 128;
    run.how.rate = 0.02;
    run.how.warm_up = 10;
    run.how.average = 0.9;
    run.how.evaluate_every = 1000;
    run.where.folder = scratch_.path() / name;
    run.budget.steps = test::most_steps(steps);
    return run;
  }

  /// The LAS of the test part.
  double train_and_score(const TrainingRun& run) {
    const Corpus corpus = task().corpus(run.what, {});
    save_run(run);
    const auto learner = task().learner(run, corpus, {});
    learner->begin(run.where.folder);
    train(*learner, run);
    return task().evaluate(*task().load(run.where.folder), corpus.test).front().value;
  }

  Scratch scratch_;
};

TEST_F(Parse, LearnsTreesAndAnswersFromItsFolder) {
  const TrainingRun run = run_on(treebank(200), "model", 120);
  const double labelled = train_and_score(run);
  if (!test::is_judged()) return;
  EXPECT_GT(labelled, 95.0);

  const Answerer answerer(run.where.folder);
  const Reply reply = answerer("the big old cat sees the dog. the bird sees the cat .");
  EXPECT_EQ(reply.pieces.size(), 1u) << "a sentence begins with a capital";
  const Reply two = answerer("the big cat sees the dog .\n\nthe bird sees .");
  ASSERT_EQ(two.pieces.size(), 2u);
  const std::vector<parse::Sentence> trees =
      parse::read_conllu(two.answers.front().text, parse::Columns::trees, "the answer", 100);
  ASSERT_EQ(trees.size(), 2u);
  EXPECT_EQ(trees[0].words[2].tag, "NOUN");
  EXPECT_EQ(trees[0].words[0].head, 3);
  EXPECT_EQ(trees[0].words[0].relation, "det");
  EXPECT_EQ(trees[1].words[2].head, 0);
  EXPECT_EQ(trees[1].words[2].relation, "root");
  const auto& table = std::get<Table>(*two.answers.front().output);
  EXPECT_EQ(table.rows.size(), 11u);

  // What is CoNLL-U keeps its words: nothing is split.
  const Reply given =
      answerer("1\tthe\t_\t_\t_\t_\t_\t_\t_\t_\n2\tcat-dog\t_\t_\t_\t_\t_\t_\t_\t_\n");
  EXPECT_EQ(std::get<Table>(*given.answers.front().output).rows.size(), 2u);
}

TEST_F(Parse, DrawsArcsAndHeads) {
  const TrainingRun run = run_on(treebank(40), "model", 2);
  train_and_score(run);
  const std::shared_ptr<const Model> model = task().load(run.where.folder);
  const Input input("The cat sees the dog.");
  const Reply reply = Answerer(model)(input);
  const auto arcs = std::get<maps::Arcs>(model->map(input, reply.pieces.front()));
  ASSERT_EQ(arcs.words.size(), 6u);
  ASSERT_EQ(arcs.arcs.size(), 6u);
  std::vector<std::int64_t> heads;
  for (const maps::Arc& arc : arcs.arcs) heads.push_back(static_cast<std::int64_t>(arc.head));
  EXPECT_TRUE(parse::is_tree(heads));
  EXPECT_NO_THROW(maps::validate(arcs));
  const auto matrix = std::get<maps::Alignment>(model->map(input, reply.pieces.front(), "all"));
  EXPECT_EQ(matrix.rows.size(), 6u);
  EXPECT_EQ(matrix.columns.size(), 7u);
  for (std::size_t word = 0; word < 6; ++word)
    EXPECT_EQ(matrix.weights.at(word, word + 1), 0.0f) << "no word is its own head";
}

TEST_F(Parse, RefusesAndWarns) {
  const TrainingRun run = run_on(treebank(40), "model", 2);
  train_and_score(run);
  const Answerer answerer(run.where.folder);
  for (const std::string& text :
       {std::string(), std::string(" \n "), std::string("\xff"), std::string("a\0b", 3),
        std::string("1\tthe\t_\t_\t_\t_\t_\t_\t_\t_\n3\tcat\t_\t_\t_\t_\t_\t_\t_\t_\n")})
    EXPECT_THROW(answerer(text), InvalidArgument) << text;
  const Reply one = answerer("cat");
  EXPECT_EQ(std::get<Table>(*one.answers.front().output).rows.size(), 1u);
  EXPECT_TRUE(one.notes.empty());
  const Reply unknown = answerer("我喜欢猫");
  EXPECT_TRUE(unknown.unfamiliar);
  EXPECT_FALSE(unknown.notes.empty());
  std::string text;
  for (int i = 0; i < 10000; ++i) text += "cat ";
  const Reply large = answerer(text);
  EXPECT_EQ(std::get<Table>(*large.answers.front().output).rows.size(), 10000u);
  EXPECT_FALSE(large.notes.empty()) << "its sentences were cut";
}

TEST_F(Parse, BatchesChangeNothing) {
  const TrainingRun run = run_on(treebank(40), "model", 3);
  train_and_score(run);
  const Answerer answerer(run.where.folder);
  const std::vector<Input> inputs{"the cat sees the big old red dog .", "bird",
                                  "the extraordinarily-long bird sees ."};
  const std::vector<Reply> together = answerer(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    EXPECT_EQ(together[i].answers.front().text, answerer(inputs[i]).answers.front().text);
}

TEST_F(Parse, TakesOffsetsInPlaceOfAttention) {
  const fs::path data = treebank(40);
  TrainingRun run = run_on(data, "offsets", 3);
  task().read({{"model", {{"arcs", "offsets"}}}}, "the test", run.what);
  train_and_score(run);
  const std::shared_ptr<const Model> model = task().load(run.where.folder);
  EXPECT_EQ(model->kind(), "offsets");
  EXPECT_EQ(Answerer(model)("the cat sees .").pieces.size(), 1u);
}

TEST_F(Parse, ReadsDataOfItsUserAndNamesBadLines) {
  const fs::path good = treebank(40);
  const Corpus corpus = task().corpus({{"data", good.string()}}, {});
  EXPECT_EQ(corpus.train.size(), 32u);
  EXPECT_EQ(corpus.development.size(), 4u);
  EXPECT_EQ(corpus.test.size(), 4u);
  const parse::Sentence tree = parse::sentence_of(corpus.test.front());
  EXPECT_EQ(parse::example_of(tree, "").targets, corpus.test.front().targets);
  const fs::path bad = scratch_.path() / "bad.conllu";
  std::ofstream(bad) << "1\tthe\tcat\n";
  EXPECT_THROW(task().corpus({{"data", bad.string()}}, {}), FileError);
  EXPECT_THROW(task().corpus({{"data", treebank(5).string()}}, {}), FileError);
  EXPECT_THROW(task().corpus({{"data", "/nowhere/trees"}}, {}), FileError);
}

TEST_F(Parse, ScoresItsBaselines) {
  const Corpus corpus = task().corpus({{"data", treebank(100).string()}}, {});
  const std::vector<Baseline> all = task().baselines(corpus);
  ASSERT_EQ(all.size(), 3u);
  for (const Baseline& one : all) {
    ASSERT_EQ(one.scores.size(), 3u);
    EXPECT_LE(one.scores[0].value, one.scores[1].value) << "LAS above UAS";
    EXPECT_EQ(one.scores[2].value, 100.0) << "tags are those of the corpus";
  }
  EXPECT_GT(all[2].scores[1].value, all[0].scores[1].value);
}

}  // namespace
}  // namespace attn::tasks
