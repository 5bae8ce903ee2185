// The models that ship answer, and stay within their sizes.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/value.hpp"
#include "tools/attn/pictures.hpp"
#include "tools/attn/png.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMebibyte = 1 << 20;

TEST(ShippedModels, AnswerWithoutAFlag) {
  ASSERT_EQ(setenv("ATTN_MODELS", ATTN_SHIPPED_MODELS, 1), 0);
  EXPECT_EQ(say({"pronounce", "attention"}).out, "attention\tAH T EH N SH AH N\n");
  const Said italian =
      say({"translate", "This package provides a simple tool to edit images."});
  EXPECT_EQ(italian.status, success) << italian.err;
  EXPECT_EQ(italian.out.find("Questo pacchetto fornisce"), 0u) << italian.out;
  EXPECT_NE(say({"translate", "I love playing football."}).out.find("calcio"),
            std::string::npos);
  EXPECT_NE(say({"translate", "--to", "de", "Good morning, Tom."}).out.find("Guten Morgen"),
            std::string::npos);
  const Said english = say({"translate", "\u4ecb\u7ecd\u4e00\u4e0b\u897f\u5b89"});
  EXPECT_NE(english.out.find("Introduce"), std::string::npos) << english.out;
  EXPECT_NE(english.out.find("Xi'an"), std::string::npos) << english.out;
  EXPECT_EQ(say({"translate", "--from", "zh", "--to", "zh", "a"}).status, usage);
  EXPECT_EQ(say({"translate", "--from", "zh", "--to", "it", "a"}).status, usage);
  EXPECT_EQ(say({"translate", "--from", "xx", "a"}).status, usage);
  EXPECT_EQ(say({"translate", "--to", "xx", "a"}).status, usage);
  EXPECT_EQ(say({"translate", "--to", "en", "It is English already."}).status, failure);
  // Two sentences are two answers on one line.
  const Said two = say({"translate", "It is fast. It is small."});
  EXPECT_NE(two.out.find(". "), std::string::npos) << two.out;
  unsetenv("ATTN_MODELS");
}

TEST(ShippedModels, EntailWhatFollows) {
  ASSERT_EQ(setenv("ATTN_MODELS", ATTN_SHIPPED_MODELS, 1), 0);
  for (const char* matching : {"both-ways", "word-by-word", "decomposable"}) {
    const Said said = say({"entail", "--matching", matching, "A man is playing a guitar.",
                           "A person plays music."});
    EXPECT_EQ(said.out.substr(0, said.out.find('\n')), "entailment") << matching << said.err;
  }
  EXPECT_EQ(say({"entail", "A man is playing a guitar.", "The man is asleep."})
                .out.rfind("contradiction\n", 0),
            0u);
  unsetenv("ATTN_MODELS");
}

TEST(ShippedModels, FillTheBlankWithAName) {
  ASSERT_EQ(setenv("ATTN_MODELS", ATTN_SHIPPED_MODELS, 1), 0);
  const tasks::TaskCard& card = tasks::task_named("cloze").card();
  const std::string& text = card.parts.at(0).example;
  const Said said = say({"cloze", text, card.parts.at(1).example});
  EXPECT_EQ(said.out.substr(0, said.out.find('\n')), "Egypt") << said.err;
  EXPECT_TRUE(said.err.empty()) << said.err;
  // Of what is no question, and no file, it says so.
  EXPECT_EQ(say({"cloze", text, "And he went."}).status, failure);
  EXPECT_NE(say({"cloze", "", "And _____ went."}).err.find("a text without a name"),
            std::string::npos);
  EXPECT_EQ(say({"cloze", "no-such-file", "And _____ went."}).err.find("--text"),
            std::string::npos);
  unsetenv("ATTN_MODELS");
}

/// Files and captions of tests/data/caption: the first test canvases, `attn
/// caption --sample`.
std::vector<std::pair<std::string, std::string>> sample_canvases() {
  const fs::path folder = fs::path(ATTN_TEST_DATA) / "caption";
  std::vector<std::pair<std::string, std::string>> samples;
  std::ifstream list(folder / "captions.tsv");
  for (std::string line; std::getline(list, line);)
    samples.emplace_back(folder / line.substr(0, line.find('\t')),
                         line.substr(line.find('\t') + 1));
  return samples;
}

TEST(ShippedModels, CaptionPictures) {
  ASSERT_EQ(setenv("ATTN_MODELS", ATTN_SHIPPED_MODELS, 1), 0);
  const auto samples = sample_canvases();
  ASSERT_EQ(samples.size(), 8u);
  for (const char* attention : {"soft", "hard"}) {
    int right = 0;
    for (const auto& [file, caption] : samples) {
      const Said said = say({"caption", "--attention", attention, file});
      ASSERT_EQ(said.status, success) << said.err;
      right += said.out == file + "\t" + caption + "\n" ? 1 : 0;
    }
    EXPECT_GE(right, 6) << attention;
  }
  unsetenv("ATTN_MODELS");
}

TEST(ShippedModels, CaptionALightPictureThreeTimesAsLarge) {
  ASSERT_EQ(setenv("ATTN_MODELS", ATTN_SHIPPED_MODELS, 1), 0);
  const tasks::ScratchFolder folder(fs::temp_directory_path());
  const std::string file = folder.path() / "light.png";
  int same = 0;
  for (const auto& [sample, caption] : sample_canvases()) {
    const tasks::Picture small = read_picture(sample);
    std::vector<std::uint8_t> light;
    for (std::int64_t y = 0; y < 3 * small.height; ++y)
      for (std::int64_t x = 0; x < 3 * small.width; ++x)
        light.push_back(static_cast<std::uint8_t>(
            255 - small.pixels[static_cast<std::size_t>(3 * (y / 3 * small.width + x / 3))]));
    write_png(file, light, 3 * small.width, 3 * small.height);
    const std::string plain = say({"caption", sample}).out;
    const std::string enlarged = say({"caption", file}).out;
    same += plain.substr(plain.find('\t')) == enlarged.substr(enlarged.find('\t')) ? 1 : 0;
  }
  EXPECT_EQ(same, 8);
  unsetenv("ATTN_MODELS");
}

TEST(ShippedModels, AreSmall) {
  std::uintmax_t all = 0;
  int models = 0;
  for (const auto& model : fs::directory_iterator(ATTN_SHIPPED_MODELS)) {
    if (!model.is_directory()) continue;
    ++models;
    std::uintmax_t size = 0;
    for (const auto& file : fs::directory_iterator(model.path())) size += file.file_size();
    EXPECT_LE(fs::file_size(model.path() / "model.safetensors"), 8 * kMebibyte) << model.path();
    EXPECT_TRUE(fs::exists(model.path() / "README.md")) << "no card in " << model.path();
    all += size;
  }
  EXPECT_GE(models, 20);
  EXPECT_LE(all, 56 * kMebibyte);
}

}  // namespace
}  // namespace attn::tools
