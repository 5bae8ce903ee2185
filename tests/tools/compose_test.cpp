// attn compose as a newcomer meets it: a model of one's own pieces, files in and out, what is
// wrong with them, JSON and maps.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "attn/files/json.hpp"
#include "attn/files/read_file.hpp"
#include "tasks/scratch.hpp"
#include "tools/attn/command.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

class ComposeCommand : public testing::Test {
 protected:
  void SetUp() override {
    std::string pieces;
    for (int i = 0; i < 20; ++i)
      pieces += "X:" + std::to_string(i) + "\nM:4/4\nL:1/4\nK:C\n[CEGc] [B,DGB] [CEGc] D | E\n";
    const std::string data = scratch_.write("pieces.abc", pieces).string();
    for (const std::string kind : {"chorale", "tune"}) {
      const Said said = say({"train", "compose", "--data", data, "--kind", kind, "--out",
                             model(kind), "--steps", "3", "--dim", "8", "--heads", "2",
                             "--feed-forward", "8", "--text-window", "64"});
      ASSERT_EQ(said.status, success) << said.err;
    }
  }

  std::string model(const std::string& kind) const { return path(kind); }
  std::string path(const std::string& name) const { return (scratch_.path() / name).string(); }
  static std::string bytes_of(const std::string& file) {
    return files::read_text(file, 1 << 24);
  }

  tasks::Scratch scratch_;
};

TEST_F(ComposeCommand, PrintsAbcOrWritesFiles) {
  const Said said = say({"compose", "--model", model("chorale"), "--bars", "2"});
  ASSERT_EQ(said.status, success) << said.err;
  EXPECT_EQ(said.out.find("X:1\nT:Chorale\nM:4/4\nL:1/4\n"), 0u) << said.out;
  EXPECT_TRUE(said.err.empty()) << said.err;

  const Said files = say({"compose", "--model", model("chorale"), "--bars", "2", "--out",
                          path("new.mid"), "--play", path("new.wav")});
  ASSERT_EQ(files.status, success) << files.err;
  EXPECT_TRUE(files.out.empty()) << files.out;
  EXPECT_NE(files.err.find(" notes, "), std::string::npos);
  EXPECT_EQ(bytes_of(path("new.mid")).substr(0, 4), "MThd");
  EXPECT_EQ(bytes_of(path("new.wav")).substr(0, 4), "RIFF");
  ASSERT_EQ(
      say({"compose", "--model", model("chorale"), "--bars", "2", "--out", path("new.abc")})
          .status,
      success);
  EXPECT_EQ(bytes_of(path("new.abc")), said.out);
}

/// What was composed goes on, from MIDI as from ABC, and its beginning stays.
TEST_F(ComposeCommand, GoesOnWithAFile) {
  ASSERT_EQ(say({"compose", "--model", model("chorale"), "--bars", "2", "--out", path("a.mid")})
                .status,
            success);
  ASSERT_EQ(say({"compose", "--model", model("chorale"), "--bars", "2", "--out", path("a.abc")})
                .status,
            success);
  std::vector<nlohmann::json> both;
  for (const char* name : {"a.mid", "a.abc"}) {
    const Said said = say({"compose", "--model", model("chorale"), "--begin", path(name),
                           "--bars", "1", "--json"});
    ASSERT_EQ(said.status, success) << said.err;
    both.push_back(nlohmann::json::parse(said.out));
    EXPECT_EQ(both.back().at("output").at("columns").at(2), "pitch");
    EXPECT_EQ(both.back().at("file").get<std::string>(), path(name));
  }
  EXPECT_EQ(both[0].at("text"), both[1].at("text"));
}

TEST_F(ComposeCommand, ComposesATuneInAMetreAndAKey) {
  const Said said = say({"compose", "--model", model("tune"), "--kind", "tune", "--metre",
                         "6/8", "--key", "G", "--bars", "1"});
  ASSERT_EQ(said.status, success) << said.err;
  EXPECT_EQ(said.out.find("X:1\nT:A tune\nM:"), 0u) << said.out;
}

TEST_F(ComposeCommand, SaysWhatIsWrong) {
  const std::string chorale = model("chorale");
  const auto fails = [&](std::vector<std::string> words, const std::string& reason) {
    words.insert(words.begin(), {"compose", "--model", chorale});
    const Said said = say(words);
    EXPECT_NE(said.status, success) << reason;
    EXPECT_NE(said.err.find(reason), std::string::npos) << said.err;
  };
  fails({"--begin", path("none.mid")}, "none.mid");
  fails({"--begin", scratch_.write("text.txt", "A").string()}, ".mid or .abc");
  fails({"--begin", scratch_.write("no.mid", "RIFF").string()}, "no MIDI file");
  fails({"--begin", scratch_.write("empty.abc", "??").string()}, "has no notes");
  fails({"--begin", scratch_.write("bad.abc", "L:1/0\nK:C\nA").string()}, "no number");
  fails({"--out", path("x.mp3")}, ".mid, .abc or .wav");
  fails({"--play", path("x.mid")}, ".wav");
  fails({"--out", path("none/x.mid")}, "no folder");
  fails({"--key", "G"}, "--kind tune");
  fails({"--kind", "tune"}, "chorale");
  fails({"--kind", "tune", "--metre", "x"}, "no metre");
  fails({"--kind", "tune", "--key", "H"}, "no key");
  fails({"--bars", "0"}, "--bars");
  fails({"--heads", "all"}, "--map");
}

TEST_F(ComposeCommand, DrawsAndShows) {
  const Said said = say({"compose", "--model", model("chorale"), "--bars", "1", "--map",
                         path("roll.json"), "--show"});
  ASSERT_EQ(said.status, success) << said.err;
  EXPECT_EQ(files::read_json(path("roll.json")).at("kind"), "diagram");
  EXPECT_EQ(said.out.find("X:1"), 0u);
  EXPECT_FALSE(said.err.empty());
  ASSERT_EQ(say({"compose", "--model", model("chorale"), "--bars", "1", "--map",
                 path("heads.json"), "--heads", "all"})
                .status,
            success);
  EXPECT_EQ(files::read_json(path("heads.json")).at("kind"), "heads");
}

TEST_F(ComposeCommand, IsScored) {
  const Said said = say({"eval", "compose", "--model", model("chorale"), "--json"});
  ASSERT_EQ(said.status, success) << said.err;
  EXPECT_TRUE(nlohmann::json::parse(said.out).at("scores").contains("nats"));
  const Said data = say({"data", "compose", "--data", path("pieces.abc")});
  EXPECT_EQ(data.status, success) << data.err;
}

}  // namespace
}  // namespace attn::tools
