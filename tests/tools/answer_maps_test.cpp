// The pictures of answers, steering, and the gallery, with the models that ship.

#include "tools/attn/answer_maps.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>

#include "attn/files/read_file.hpp"
#include "attn/maps/map.hpp"
#include "tools/attn/command.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

class PicturesOfAnswers : public testing::Test {
 protected:
  PicturesOfAnswers()
      : folder_(fs::temp_directory_path() /
                ("attn-answer-maps-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    setenv("ATTN_MODELS", ATTN_SHIPPED_MODELS, 1);
  }
  ~PicturesOfAnswers() override {
    unsetenv("ATTN_MODELS");
    fs::remove_all(folder_);
  }
  fs::path at(const std::string& name) const { return folder_ / name; }

 private:
  fs::path folder_;
};

TEST_F(PicturesOfAnswers, AreNumberedAndHaveARowForEveryPhoneAndTheEnd) {
  const Said said = say({"pronounce", "cat", "dog", "--map", at("looked.json").string()});
  ASSERT_EQ(said.status, success) << said.err;
  const auto first = std::get<maps::Alignment>(maps::read_map(at("looked.json")));
  EXPECT_EQ(first.rows, (maps::Labels{"K", "AE", "T", "</s>"}));
  EXPECT_EQ(first.columns, (maps::Labels{"c", "a", "t", "</s>"}));
  const auto second = std::get<maps::Alignment>(maps::read_map(at("looked-2.json")));
  EXPECT_EQ(second.columns, (maps::Labels{"d", "o", "g", "</s>"}));
  EXPECT_FALSE(fs::exists(at("looked-3.json")));
}

TEST_F(PicturesOfAnswers, ShowTheHeadsOfOnePartOrOfAll) {
  ASSERT_EQ(
      say({"pronounce", "cat", "--heads", "encoder", "--map", at("e.json").string()}).status,
      success);
  ASSERT_EQ(say({"pronounce", "cat", "--heads", "all", "--map", at("a.json").string()}).status,
            success);
  const auto encoder = std::get<maps::Heads>(maps::read_map(at("e.json")));
  const auto all = std::get<maps::Heads>(maps::read_map(at("a.json")));
  ASSERT_FALSE(encoder.maps.empty());
  for (const maps::Head& head : encoder.maps) EXPECT_EQ(head.part, "encoder");
  EXPECT_GT(all.maps.size(), encoder.maps.size());
}

TEST_F(PicturesOfAnswers, FollowWhatSteeringSays) {
  ASSERT_EQ(say({"pronounce", "cat", "--forbid", "0,1", "--force", "0:2", "--map",
                 at("steered.json").string()})
                .status,
            success);
  const auto map = std::get<maps::Alignment>(maps::read_map(at("steered.json")));
  EXPECT_EQ(map.weights.at(0, 2), 1.0f) << "forced";
  for (std::size_t row = 0; row < map.weights.rows; ++row)
    EXPECT_EQ(map.weights.at(row, 0) + map.weights.at(row, 1), 0.0f) << "forbidden";
  EXPECT_EQ(say({"pronounce", "cat", "--forbid", "9"}).status, failure);
  EXPECT_EQ(say({"pronounce", "cat", "--force", "1-2"}).status, usage);
  EXPECT_EQ(say({"pronounce", "cat", "--map", "looked.gif"}).status, usage);
}

TEST_F(PicturesOfAnswers, MakeAGallery) {
  const Said said = say({"gallery", "--out", at("g").string(), "--only", "letters-to-phones",
                         "--only", "local-against-global"});
  ASSERT_EQ(said.status, success) << said.err;
  for (const char* picture :
       {"letters-to-phones.svg", "local-against-global.svg", "local-against-global-2.svg"})
    EXPECT_TRUE(fs::exists(at("g") / "gallery" / picture)) << picture;
  EXPECT_FALSE(fs::exists(at("g") / "gallery.md")) << "the other figures would be missing";
  // What it says of a figure is what docs/gallery.md has of it.
  const auto begin = said.out.find("\n## ");
  ASSERT_NE(begin, std::string::npos) << said.out;
  const std::string docs =
      files::read_text(fs::path(ATTN_SHIPPED_MODELS) / "../docs/gallery.md", 1 << 20);
  EXPECT_NE(docs.find(said.out.substr(begin)), std::string::npos) << said.out;
}

TEST_F(PicturesOfAnswers, AGalleryThatCannotBeMadeIsToldSo) {
  std::ofstream(at("file")) << "in the way";
  const Said said = say({"gallery", "--out", at("file").string()});
  EXPECT_EQ(said.status, failure);
  EXPECT_NE(said.err.find("the folder cannot be made"), std::string::npos) << said.err;
}

}  // namespace
}  // namespace attn::tools
