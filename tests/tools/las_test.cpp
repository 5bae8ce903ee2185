// transcribe is taught on a list of clips and asked: sounds that are no speech, since what is
// tested is the road from files to answers.

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/maps/map.hpp"
#include "support/wav.hpp"
#include "tasks/scratch.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

using nlohmann::json;

class Taught : public testing::Test {
 protected:
  void SetUp() override {
    if (program_beside("attn-sound").empty())
      GTEST_SKIP() << "attn-sound was not built: libsndfile or libsoxr is not here";
    std::string clips;
    for (int i = 0; i < 12; ++i) {
      const std::string name = std::to_string(i) + ".wav";
      scratch_.write(name, test::wav(test::tone(0.5 + 0.05 * i, i % 2 == 0 ? 400.0 : 2500.0)));
      clips += name + "\t" + (i % 2 == 0 ? "LOW" : "HIGH") +
               (i < 8    ? "\ttrain"
                : i < 10 ? "\tdevelopment"
                         : "") +
               "\n";
    }
    scratch_.write("clips.tsv", clips);
  }

  std::string path(const std::string& name) const { return (scratch_.path() / name).string(); }
  Said train(std::vector<std::string> more) const {
    std::vector<std::string> all{
        "train", "transcribe", "--data", path("clips.tsv"), "--hidden", "8",     "--spell",
        "8",     "--steps",    "3",      "--beam",          "2",        "--out", path("model")};
    all.insert(all.end(), more.begin(), more.end());
    return say(all);
  }

  tasks::Scratch scratch_;
};

TEST_F(Taught, LearnsFromClipsAndAnswersFiles) {
  const Said trained = train({});
  ASSERT_EQ(trained.status, success) << trained.err;
  const std::string model = path("model");
  const Said said =
      say({"transcribe", "--model", model, path("0.wav"), "--json", "--map", path("map.json")});
  ASSERT_EQ(said.status, success) << said.err;
  const json line = json::parse(said.out);
  EXPECT_TRUE(line.at("text").is_string());
  if (!line.at("text").get<std::string>().empty()) {
    EXPECT_EQ(line.at("table").at("columns"), (json{"word", "begin", "end"}));
    maps::validate(maps::read_map(path("map.json")));
  }
  const Said scored =
      say({"eval", "transcribe", "--model", model, "--data", path("clips.tsv"), "--json"});
  ASSERT_EQ(scored.status, success) << scored.err;
  EXPECT_NE(scored.out.find("WER"), std::string::npos) << scored.out;
}

TEST_F(Taught, TellsWhatDoesNotFit) {
  const Said dot = train({"--attention", "dot", "--location", "convolved"});
  EXPECT_NE(dot.status, success);
  EXPECT_NE(dot.err.find("knows no location"), std::string::npos) << dot.err;
  scratch_.write("clips.tsv", "0.wav\tLOW\tlearn\n");
  const Said part = train({});
  EXPECT_EQ(part.status, failure);
  EXPECT_NE(part.err.find("train, development and test are accepted"), std::string::npos)
      << part.err;
  scratch_.write("short.wav", test::wav(test::tone(0.05)));
  scratch_.write("clips.tsv", "short.wav\tLOW\ttrain\n");
  const Said shortest = train({});
  EXPECT_EQ(shortest.status, failure);
  EXPECT_NE(shortest.err.find("are learnt from"), std::string::npos) << shortest.err;
}

TEST_F(Taught, NamesNoPathOfItsData) {
  ASSERT_EQ(train({}).status, success);
  const Said said = say({"eval", "transcribe", "--model", path("model"), "--sample", "1"});
  EXPECT_NE(said.status, success);  // eval has no such flag
  EXPECT_EQ(say({"transcribe", "--model", path("model")}).status, usage);
  EXPECT_EQ(
      say({"transcribe", "--model", path("model"), "--sample", "1", path("0.wav")}).status,
      usage);
}

}  // namespace
}  // namespace attn::tools
