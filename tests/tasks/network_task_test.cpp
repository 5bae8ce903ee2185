// A task whose models are networks: a text becomes its commonest letter. It is trained, saved,
// resumed and loaded, and a damaged folder is refused.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

/// Counts of letters in, a letter out.
class LetterNetwork final : public Network {
 public:
  LetterNetwork(std::int64_t hidden, const Lexicon& lexicon)
      : letters_(lexicon.vocabularies.at("letters")),
        first_(add("first", nn::Linear({.in = letters_.size(), .out = hidden}))),
        last_(add("last", nn::Linear({.in = hidden, .out = letters_.size()}))) {}

  std::string kind() const override { return "letters"; }
  Learner::Lesson loss(std::span<const Example* const> batch) const override {
    std::vector<std::string> texts;
    std::vector<std::int64_t> labels;
    for (const Example* example : batch) {
      texts.push_back(example->source);
      labels.push_back(letters_.encode(example->targets.front()).front());
    }
    const auto count = static_cast<std::int64_t>(labels.size());
    return {cross_entropy(logits(texts), Tensor::from(labels, {count})), count};
  }
  std::int64_t cost(const Example& example) const override {
    return static_cast<std::int64_t>(example.source.size());
  }
  std::string refusal(const Input& input) const override {
    return input.text().empty() ? "is empty" : "";
  }
  std::vector<Reply> answer(std::span<const Input> inputs, const Choices&) const override {
    std::vector<Reply> replies;
    for (const Input& input : inputs) {
      const Tensor chances = softmax(logits({input.text()}));
      const float* first = chances.data<float>();
      const auto best = std::max_element(first, first + chances.numel()) - first;
      Answer letter;
      letter.text = letters_.label(best);
      letter.output = Labels{{letter.text, first[best]}};
      Reply& reply = replies.emplace_back();
      reply.answers.push_back(letter);
      reply.pieces.push_back({input.text(), false, {}, {letter}});
    }
    return replies;
  }
  maps::Map map(const Input& input, const Piece&, std::string_view) const override {
    return maps::Document{"letters", "", {{1.0f, {{input.text(), 1.0f}}}}};
  }

 private:
  Tensor logits(const std::vector<std::string>& texts) const {
    std::vector<float> counts;
    for (const std::string& text : texts) {
      std::vector<float> row(static_cast<std::size_t>(letters_.size()));
      for (const std::int64_t letter : letters_.encode(text))
        row[static_cast<std::size_t>(letter)] += 1.0f;
      counts.insert(counts.end(), row.begin(), row.end());
    }
    const auto rows = static_cast<std::int64_t>(texts.size());
    return last_(first_(Tensor::from(counts, {rows, letters_.size()})));
  }

  text::Tokeniser letters_;
  nn::Linear first_;
  nn::Linear last_;
};

class LetterTask final : public NetworkTask {
 public:
  const TaskCard& card() const override {
    static const TaskCard kCard{.name = "letter",
                                .about = "a text becomes its commonest letter",
                                .title = "Find the commonest letter",
                                .help = "",
                                .metric = "accuracy",
                                .score = "right",
                                .ships = false};
    return kCard;
  }
  std::vector<Setting> settings() const override {
    return {{"hidden",
             "model.hidden",
             Setting::About::model,
             "Letter",
             "Hidden size",
             Setting::Kind::whole,
             {},
             1,
             64},
            {"letters",
             "letters",
             Setting::About::data,
             "Letter",
             "Which letters",
             Setting::Kind::name,
             {"abc", "abcd"}}};
  }
  Corpus corpus(const nlohmann::json& what, const Say&) const override {
    const auto letters = what.at("letters").get<std::string>();
    Corpus corpus;
    corpus.name = letters;
    for (std::size_t i = 0; i < 96; ++i) {
      const char common = letters[i % letters.size()];
      const char rare = letters[(i / 3) % letters.size()];
      const Example example{
          std::to_string(i), std::string(2 + i % 5, common) + rare, {std::string(1, common)}};
      (i % 8 == 0   ? corpus.development
       : i % 8 == 1 ? corpus.test
                    : corpus.train)
          .push_back(example);
    }
    return corpus;
  }
  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override {
    double right = 0.0;
    for (std::size_t i = 0; i < examples.size(); ++i)
      right += replies[i].answers.front().text == examples[i].targets.front() ? 1.0 : 0.0;
    return {{"right", 100.0 * right / static_cast<double>(examples.size())}};
  }

 protected:
  nlohmann::json initial(const nlohmann::json&) const override {
    return {{"letters", "abc"}, {"model", {{"hidden", 8}}}};
  }
  TrainingOptions training(const nlohmann::json&) const override {
    return {.batch_tokens = 64,
            .rate = 0.05,
            .warm_up = 2,
            .average = 0.5,
            .evaluate_every = 10,
            .patience = 0};
  }
  Lexicon lexicon(const nlohmann::json&, const Corpus& corpus,
                  const TrainingTools&) const override {
    std::vector<std::string> lines;
    for (const Example& example : corpus.train) lines.push_back(example.source);
    Lexicon lexicon;
    lexicon.vocabularies.emplace("letters",
                                 text::Tokeniser::learn(text::Units::characters, lines, 100));
    lexicon.facts = {{"lines", lines.size()}};
    return lexicon;
  }
  std::shared_ptr<Network> network(const nlohmann::json& model, Lexicon lexicon,
                                   const std::string&) const override {
    return std::make_shared<LetterNetwork>(model.at("hidden").get<std::int64_t>(), lexicon);
  }
};

class NetworkTaskTest : public testing::Test {
 protected:
  const Task& task() const { return task_named("letter"); }

  TrainingRun run_in(const fs::path& folder, std::int64_t steps, Resume resume = Resume::no) {
    TrainingRun run = task().defaults({}, nullptr);
    run.where.folder = folder;
    run.where.resume = resume;
    run.budget.steps = steps;
    return run;
  }
  void train_for(const TrainingRun& run) {
    const Corpus corpus = task().corpus(run.what, {});
    save_run(run);
    const auto learner = task().learner(run, corpus, {});
    learner->begin(run.where.folder);
    train(*learner, run);
  }
  static std::string bytes_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  }

  Scratch scratch_;
  TaskRegistration registration_{std::make_unique<LetterTask>()};
};

TEST_F(NetworkTaskTest, LearnsAndAnswersFromItsFolder) {
  const fs::path folder = scratch_.path() / "model";
  train_for(run_in(folder, 60));
  const Answerer answerer(folder);
  EXPECT_EQ(answerer("bbbbac").answers.front().text, "b");
  EXPECT_THROW(answerer(""), InvalidArgument);
  const Corpus corpus = task().corpus(task().defaults({}, nullptr).what, {});
  EXPECT_EQ(task().evaluate(answerer.model(), corpus.test).front().value, 100.0);
}

TEST_F(NetworkTaskTest, ResumesToTheSameBytes) {
  train_for(run_in(scratch_.path() / "whole", 20));
  train_for(run_in(scratch_.path() / "half", 10));
  train_for(run_in(scratch_.path() / "half", 20, Resume::yes));
  EXPECT_EQ(bytes_of(scratch_.path() / "whole" / "model.safetensors"),
            bytes_of(scratch_.path() / "half" / "model.safetensors"));
}

TEST_F(NetworkTaskTest, RefusesAFolderThatIsNotWhole) {
  const fs::path folder = scratch_.path() / "model";
  train_for(run_in(folder, 10));
  const nlohmann::json config = files::read_json(folder / "config.json");
  const auto with = [&](const char* pointer, nlohmann::json value) {
    nlohmann::json changed = config;
    changed[nlohmann::json::json_pointer(pointer)] = std::move(value);
    files::write_json(folder / "config.json", changed);
  };
  for (const auto& [pointer, value] :
       std::vector<std::pair<const char*, nlohmann::json>>{{"/task", "pronounce"},
                                                           {"/format", 9},
                                                           {"/model/hidden", 65},
                                                           {"/model/hidden", "wide"},
                                                           {"/model/depth", 2},
                                                           {"/model/hidden", 9}}) {
    with(pointer, value);
    EXPECT_THROW(task().load(folder), Error) << pointer << " " << value;
  }
  files::write_json(folder / "config.json", config);
  EXPECT_NO_THROW(task().load(folder));
  nlohmann::json lexicon = files::read_json(folder / "lexicon.json");
  lexicon["facts"]["lines"] = 1;
  files::write_json(folder / "lexicon.json", lexicon);
  EXPECT_THROW(task().load(folder), FileError);
}

TEST_F(NetworkTaskTest, KnowsTheDataOfAFolder) {
  const fs::path folder = scratch_.path() / "model";
  TrainingRun run = run_in(folder, 5);
  task().read({{"letters", "abcd"}}, "the test", run.what);
  train_for(run);
  const auto model = task().load(folder);
  for (const bool has_run : {true, false}) {
    if (!has_run) fs::remove(folder / "training.json");
    nlohmann::json what = task().defaults({}, nullptr).what;
    task().read_data_of(*model, folder, {}, what);
    EXPECT_EQ(what.at("letters"), "abcd");
  }
}

TEST(CostBatches, HoldEachRowOnceWithinTheMost) {
  const std::vector<std::int64_t> costs{3, 1, 9, 4, 4, 2, 30, 1, 5};
  std::vector<std::int64_t> all;
  for (const Rows& rows : make_batches(costs, 10, 1, 0)) {
    std::int64_t most = 0;
    for (const std::int64_t row : rows) {
      most = std::max(most, costs[static_cast<std::size_t>(row)]);
      all.push_back(row);
    }
    EXPECT_TRUE(rows.size() == 1 || most * static_cast<std::int64_t>(rows.size()) <= 10);
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

}  // namespace
}  // namespace attn::tasks
