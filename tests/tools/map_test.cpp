#include "attn/maps/map.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/read_file.hpp"
#include "maps/support/examples.hpp"
#include "support/tolerance.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/draw_map.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/regress_map.hpp"
#include "tools/attn/regression.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

class MapCommand : public testing::Test {
 protected:
  MapCommand()
      : folder_(fs::temp_directory_path() / ("attn-map-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    write_map(maps::alignment_example(), folder_ / "map.json");
  }
  ~MapCommand() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  std::string content(const std::string& name) const {
    return files::read_text(folder_ / name, 1 << 24);
  }

 private:
  fs::path folder_;
};

TEST_F(MapCommand, ShowsWhereNothingElseIsAskedFor) {
  const Said said = say({"map", at("map.json")});
  EXPECT_EQ(said.status, success) << said.err;
  EXPECT_NE(said.out.find("▁server"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("█"), std::string::npos);
  EXPECT_EQ(said.out.find('\x1b'), std::string::npos)
      << "no colours where there is no terminal";
}

TEST_F(MapCommand, TheLogOfATrainingBecomesACurve) {
  fs::create_directories(at("dates"));
  std::ofstream(at("dates/log.jsonl"))
      << "{\"loss\":2.5,\"step\":10}\n{\"loss\":1.5,\"step\":20}\n"
         "{\"development\":{\"CER\":12.5,\"exact\":50.0},\"metric\":\"CER\",\"step\":20}\n";
  const Said shown = say({"map", at("dates/log.jsonl")});
  EXPECT_EQ(shown.status, success) << shown.err;
  EXPECT_NE(shown.out.find("best: step 20, CER 12.50"), std::string::npos) << shown.out;
  const Said folder = say({"map", at("dates"), "-o", at("curve.json")});
  EXPECT_EQ(folder.status, success) << folder.err;
  EXPECT_NE(content("curve.json").find("\"kind\":\"training\""), std::string::npos);
  const Said both = say({"map", at("dates"), at("dates"), "--out", at("both.json")});
  EXPECT_EQ(both.status, success) << both.err;
  EXPECT_NE(content("both.json").find("dates: loss"), std::string::npos);
  EXPECT_EQ(say({"map", at("dates"), at("map.json")}).status, failure);
  fs::create_directories(at("empty"));
  const Said empty = say({"map", at("empty")});
  EXPECT_EQ(empty.status, failure);
  EXPECT_NE(empty.err.find("no folder of a training"), std::string::npos) << empty.err;
  if (program_beside("attn-draw").empty()) return;
  EXPECT_EQ(say({"map", at("dates"), "--out", at("curve.svg")}).status, success);
  EXPECT_NE(content("curve.svg").find("<svg"), std::string::npos);
}

TEST_F(MapCommand, JsonIsWrittenWithoutAnotherProgram) {
  const Said said = say({"map", at("map.json"), "--out", at("again.json")});
  EXPECT_EQ(said.status, success) << said.err;
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(content("again.json"), content("map.json"));
  EXPECT_EQ(maps::read_map(at("again.json")), maps::Map(maps::alignment_example()));
}

TEST_F(MapCommand, PicturesAreDrawnByTheProgramBeside) {
  if (program_beside("attn-draw").empty()) GTEST_SKIP() << "built without Pango and Cairo";
  for (const auto& [name, begin] : std::vector<std::pair<std::string, std::string>>{
           {"a.svg", "<?xml"}, {"a.pdf", "%PDF"}, {"-a b.PNG", "\x89PNG"}}) {
    const Said said = say({"map", at("map.json"), "--out", at(name)});
    EXPECT_EQ(said.status, success) << said.err;
    EXPECT_TRUE(content(name).starts_with(begin)) << name;
  }
  const Said said = say({"map", at("map.json"), "--out", at("no/folder.svg")});
  EXPECT_EQ(said.status, failure);
  EXPECT_NE(said.err.find("folder.svg"), std::string::npos) << said.err;
}

TEST_F(MapCommand, AnotherEndingIsAWrongCallThatListsTheEndings) {
  for (const char* name : {"a.gif", "a", "json", "a.svg.bak"}) {
    const Said said = say({"map", at("map.json"), "--out", at(name)});
    EXPECT_EQ(said.status, usage) << name;
    for (const char* ending : {".json", ".svg", ".pdf", ".png"})
      EXPECT_NE(said.err.find(ending), std::string::npos) << said.err;
  }
  EXPECT_EQ(say({"regress", "co2", "--map", at("a.gif")}).status, usage);
  EXPECT_THROW(write_map(maps::alignment_example(), at("a.gif")), InvalidArgument);
}

TEST_F(MapCommand, WhatIsNoMapFailsWithItsName) {
  std::ofstream(at("broken.json")) << "{\"attn_map\": 1, \"kind\": \"alignment\"}";
  const Said said = say({"map", at("broken.json")});
  EXPECT_EQ(said.status, failure);
  EXPECT_NE(said.err.find("broken.json"), std::string::npos) << said.err;
  EXPECT_NE(said.err.find("rows"), std::string::npos) << said.err;
  EXPECT_EQ(say({"map", at("none.json")}).status, failure);
  EXPECT_EQ(say({"map"}).status, usage);
}

TEST_F(MapCommand, TheProgramItselfLoadsNoPango) {
  std::ifstream loaded("/proc/self/maps");
  const std::string all(std::istreambuf_iterator<char>(loaded), {});
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.find("libpango"), std::string::npos);
  EXPECT_EQ(all.find("libcairo"), std::string::npos);
}

TEST(RegressionMap, HasTheWeightsOfEveryHeldOutPlaceInOrder) {
  Points points;
  for (int i = 0; i < 60; ++i) {
    points.x.push_back(0.5 * i);
    points.y.push_back(i % 7);
  }
  const Regression result = run_regression(points, {.epochs = 3});
  const maps::Curve map = map_of(result, {"series", "week", "sales"});
  EXPECT_NO_THROW(maps::validate(map));
  EXPECT_EQ(map.points.size(), result.train.x.size());
  EXPECT_EQ(map.weights.rows, result.held_out.x.size());
  EXPECT_TRUE(std::is_sorted(map.queries.begin(), map.queries.end()));
  // A query's largest weight is that of a nearest point.
  for (std::size_t i = 0; i < map.queries.size(); ++i) {
    std::size_t best = 0;
    double nearest = 1e9;
    for (std::size_t j = 0; j < map.points.size(); ++j) {
      if (map.weights.at(i, j) > map.weights.at(i, best)) best = j;
      nearest = std::min(nearest, std::fabs(map.points[j].x - map.queries[i]));
    }
    EXPECT_NEAR(std::fabs(map.points[best].x - map.queries[i]), nearest, test::kDoubleScore)
        << i;
  }
  ASSERT_EQ(map.lines.size(), 2u);
  EXPECT_EQ(map.lines[0].x.front(), map.points.front().x);
}

}  // namespace
}  // namespace attn::tools
