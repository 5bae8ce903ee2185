// attn watch as a newcomer meets it: clips as pictures and as folders, what is wrong with them,
// JSON and the film strip. The model is one that learnt nothing.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "attn/files/json.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/scratch.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/png.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

class WatchCommand : public testing::Test {
 protected:
  void SetUp() override {
    if (program_beside("attn-picture").empty()) GTEST_SKIP() << "attn-picture is not beside";
    const tasks::Task& task = tasks::task_named("watch");
    tasks::TrainingRun run = task.defaults({}, nullptr);
    task.read({{"model", {{"width", 8}}}}, "the test", run.what);
    run.budget.steps = 1;
    run.where.folder = model_;
    tasks::Corpus corpus;
    corpus.name = "nothing";
    for (int i = 0; i < 4; ++i) {
      tasks::Example clip{.id = "unit/" + std::to_string(i), .source = "", .targets = {"move"}};
      clip.parts = {
          {"frames",
           tasks::Frames(
               8, tasks::Picture{36, 36, 3, std::vector<std::uint8_t>(36 * 36 * 3, 90)})}};
      corpus.train.push_back(clip);
      corpus.development.push_back(std::move(clip));
    }
    const auto learner = task.learner(run, corpus, {});
    learner->begin(run.where.folder);
    tasks::train(*learner, run);
    for (int i = 1; i <= 10; ++i) {
      const std::vector<std::uint8_t> pixels(20 * 10, static_cast<std::uint8_t>(20 * i));
      fs::create_directories(clip_);
      write_png(clip_ / ("frame-" + std::to_string(i) + ".png"), pixels, 20, 10);
    }
  }

  tasks::Scratch scratch_;
  std::string model_ = (scratch_.path() / "model").string();
  fs::path clip_ = scratch_.path() / "clip";
};

TEST_F(WatchCommand, NamesAFolderAndItsFilesAlike) {
  const Said folder = say({"watch", "--model", model_, clip_.string(), "--json"});
  ASSERT_EQ(folder.status, success) << folder.err;
  std::vector<std::string> words{"watch", "--model", model_, "--json"};
  for (int i = 1; i <= 10; ++i)
    words.push_back((clip_ / ("frame-" + std::to_string(i) + ".png")).string());
  const Said files = say(words);
  ASSERT_EQ(files.status, success) << files.err;
  EXPECT_EQ(nlohmann::json::parse(folder.out).at("output"),
            nlohmann::json::parse(files.out).at("output"));
  EXPECT_EQ(nlohmann::json::parse(files.out).at("output").at("labels").size(), 6u);
  // One frame alone is answered, with a note.
  const Said one = say({"watch", "--model", model_, words.back()});
  EXPECT_EQ(one.status, success);
  EXPECT_NE(one.err.find("does not move"), std::string::npos) << one.err;
}

TEST_F(WatchCommand, DrawsTheStrip) {
  const std::string map = (scratch_.path() / "strip.json").string();
  const Said said = say({"watch", "--model", model_, clip_.string(), "--map", map});
  ASSERT_EQ(said.status, success) << said.err;
  EXPECT_EQ(files::read_json(map).at("width"), 144);
}

TEST_F(WatchCommand, SaysWhatIsWrong) {
  const auto fails = [&](const std::string& file, const std::string& reason) {
    const Said said = say({"watch", "--model", model_, file});
    EXPECT_EQ(said.status, failure) << file;
    EXPECT_NE(said.err.find(reason), std::string::npos) << said.err;
  };
  fails((scratch_.path() / "none.gif").string(), "no such file");
  fails(scratch_.write("text.png", "no picture").string(), "text.png");
  fails(scratch_.write("text.gif", "GIF89a").string(), "text.gif");
  fs::create_directories(scratch_.path() / "empty");
  fails((scratch_.path() / "empty").string(), "has no .png");
  EXPECT_EQ(say({"watch"}).status, usage);
}

}  // namespace
}  // namespace attn::tools
