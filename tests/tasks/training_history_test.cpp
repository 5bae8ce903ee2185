#include "attn/tasks/training_history.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

constexpr const char* kLog =
    R"({"event":"begin","step":0,"budget":{"steps":400}}
{"epoch":0,"loss":2.5,"rate":1e-4,"step":10,"tokens_per_second":900.0,"seconds":1.5,"left":58.5}
{"development":{"ROUGE-1":30.0,"ROUGE-L":20.0},"metric":"ROUGE-L","epoch":0,"step":20}
{"epoch":1,"loss":1.5,"rate":1e-4,"step":30,"tokens_per_second":1000.0,"seconds":3.0,"left":55.0}
{"development":{"ROUGE-1":31.0,"ROUGE-L":24.0},"metric":"ROUGE-L","epoch":1,"step":40,"samples":[{"source":"s","answer":"a","target":"t"}]}
{"development":{"ROUGE-1":50.0,"ROUGE-L":22.0},"metric":"ROUGE-L","epoch":1,"step":60}
{"epoch":1,"loss":1.2,"rate":1e-4,"st)";

TEST(TrainingHistory, TellsWhereARunIsWhileALineIsBeingWritten) {
  const Scratch scratch;
  scratch.write("log.jsonl", kLog);
  const TrainingHistory history = read_history(scratch.path());
  EXPECT_TRUE(history.begun);
  EXPECT_EQ(history.step, 60);
  EXPECT_EQ(history.budget.steps, 400);
  EXPECT_EQ(history.losses.size(), 2u);
  EXPECT_EQ(history.tokens_per_second, 1000.0);
  EXPECT_EQ(history.left, 55.0);
  EXPECT_EQ(history.end, "");
  ASSERT_TRUE(history.best().has_value());
  EXPECT_EQ(history.evaluations[*history.best()].step, 40) << "by ROUGE-L, not by ROUGE-1";
  ASSERT_EQ(history.samples.size(), 1u);
  EXPECT_EQ(history.samples[0].answer, "a");
}

TEST(TrainingHistory, FewerErrorsAreBetter) {
  const Scratch scratch;
  scratch.write("log.jsonl",
                "{\"development\":{\"CER\":9.0,\"exact\":10.0},\"step\":20}\n"
                "{\"development\":{\"CER\":3.0,\"exact\":70.0},\"step\":40}\n"
                "{\"development\":{\"CER\":3.0,\"exact\":70.0},\"step\":60}\n"
                "{\"event\":\"end\",\"step\":60,\"why\":\"no_better\"}\n");
  const TrainingHistory history = read_history(scratch.path() / "log.jsonl");
  EXPECT_EQ(history.evaluations[*history.best()].step, 40) << "the first of equals is kept";
  EXPECT_EQ(history.end, "no_better");
}

TEST(TrainingHistory, ARunThatGoesOnHasNotEnded) {
  const Scratch scratch;
  scratch.write(
      "log.jsonl",
      "{\"event\":\"begin\",\"step\":0,\"budget\":{\"steps\":10}}\n"
      "{\"loss\":1.0,\"step\":10}\n{\"event\":\"end\",\"step\":10,\"why\":\"budget\"}\n"
      "{\"event\":\"begin\",\"step\":10,\"budget\":{\"minutes\":2}}\n");
  const TrainingHistory history = read_history(scratch.path());
  EXPECT_EQ(history.end, "");
  EXPECT_EQ(history.budget.steps, 0);
  EXPECT_EQ(history.budget.minutes, 2.0);
}

TEST(TrainingHistory, AFolderWithoutALogHasNotBegunAndAnotherFileIsNone) {
  const Scratch scratch;
  EXPECT_FALSE(read_history(scratch.path()).begun);
  EXPECT_FALSE(read_history(scratch.path() / "later").begun);
  scratch.write("log.jsonl", "");
  EXPECT_TRUE(read_history(scratch.path()).begun);
  const auto other = scratch.write("other.jsonl", "{\"a\": 1}\nword\n");
  EXPECT_THROW(read_history(other), FileError);
}

TEST(TrainingHistory, TheMapHasWordsOnItsAxesAndMarksTheBestStep) {
  const Scratch scratch;
  scratch.write("log.jsonl", kLog);
  const std::vector<TrainingHistory> runs{read_history(scratch.path())};
  const maps::Training map = training_map(runs);
  maps::validate(map);
  ASSERT_EQ(map.series.size(), 2u);
  EXPECT_EQ(map.series[0].name, "loss");
  EXPECT_EQ(map.series[1].y, (std::vector<double>{20.0, 24.0, 22.0}));
  EXPECT_EQ(map.series[1].axis, maps::Axis::right);
  EXPECT_NE(map.left_title.find("nats"), std::string::npos);
  EXPECT_NE(map.right_title.find("ROUGE-L"), std::string::npos);
  EXPECT_NE(map.right_title.find("higher is better"), std::string::npos);
  ASSERT_EQ(map.marks.size(), 1u);
  EXPECT_EQ(map.marks[0].x, 40.0);
  EXPECT_EQ(map.marks[0].label, "best: step 40, ROUGE-L 24.00");
  const std::vector<TrainingHistory> two{runs[0], runs[0]};
  EXPECT_EQ(training_map(two).series.size(), 4u);
}

}  // namespace
}  // namespace attn::tasks
