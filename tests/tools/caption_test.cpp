// Pictures of users: what can be read is answered, what cannot is an error that says why.

#include "attn/tasks/caption.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/models/captioner.hpp"
#include "attn/nn/init.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "tools/attn/pictures.hpp"
#include "tools/attn/png.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

class CaptionCommand : public testing::Test {
 protected:
  void SetUp() override {
    nn::seed(1);
    tasks::save_caption_model(
        model(),
        tasks::make_caption_model({.channels = 6, .words = 4, .hidden = 6, .score = 4}));
  }

  fs::path file(const std::string& name) const { return folder_.path() / name; }
  fs::path model() const { return file("model"); }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }
  std::string bytes(const std::string& name) const {
    std::ifstream in(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  tasks::ScratchFolder folder_{fs::temp_directory_path()};
};

std::vector<std::uint8_t> checks(std::size_t count) {
  std::vector<std::uint8_t> pixels;
  for (std::size_t i = 0; i < count; ++i)
    pixels.push_back(static_cast<std::uint8_t>(i * 37 % 256));
  return pixels;
}

TEST_F(CaptionCommand, PicturesGoThereAndBack) {
  const auto pixels = checks(35);
  write_png(file("a.png"), pixels, 7, 5);
  const tasks::Picture picture = read_picture(file("a.png"));
  EXPECT_EQ(picture.width, 7);
  EXPECT_EQ(picture.height, 5);
  std::vector<std::uint8_t> colours;
  for (const std::uint8_t pixel : pixels) colours.insert(colours.end(), 3, pixel);
  EXPECT_EQ(picture.pixels, colours);
  write_png(file("b.png"), colours, 7, 5, 3);
  EXPECT_EQ(read_picture(file("b.png")), picture);
}

TEST_F(CaptionCommand, AnswersEveryPicture) {
  write_png(file("a.png"), checks(64 * 64), 64, 64);
  write_png(file("b.png"), checks(300 * 200), 300, 200);
  const Said said = say({"caption", "--model", model(), file("a.png"), file("b.png")});
  EXPECT_EQ(said.status, success) << said.err;
  EXPECT_NE(said.out.find("a.png\t"), std::string::npos);
  EXPECT_NE(said.out.find("b.png\t"), std::string::npos);
  const Said json =
      say({"caption", "--model", model(), "--json", "--map", file("m.json"), file("a.png")});
  ASSERT_EQ(json.status, success) << json.err;
  const auto answer = nlohmann::json::parse(json.out);
  EXPECT_EQ(answer["weights"].size(), answer["words"].size() + 1);
  EXPECT_EQ(answer["weights"][0].size(), 256u);
  // A map each.
  EXPECT_EQ(say({"caption", "--model", model(), "--map", file("n.json"), file("a.png"),
                 file("b.png")})
                .status,
            success);
  EXPECT_TRUE(fs::exists(file("n-2.json")));
  const auto map = nlohmann::json::parse(bytes("m.json"));
  EXPECT_EQ(map["kind"], "image");
  EXPECT_EQ(map["steps"].size(), answer["words"].size());
}

TEST_F(CaptionCommand, DamagedPicturesAreErrorsThatNameTheFile) {
  write_png(file("whole.png"), checks(64 * 64), 64, 64);
  const std::string whole = bytes("whole.png");
  std::vector<fs::path> bad{write("empty.png", ""), write("text.png", "this is no picture"),
                            write("head.png", whole.substr(0, 20)),
                            write("half.png", whole.substr(0, whole.size() / 2))};
  std::string changed = whole;
  changed[whole.size() / 2] = static_cast<char>(changed[whole.size() / 2] ^ 0x55);
  bad.push_back(write("changed.png", changed));
  // A header that claims 2,000,000,000 x 2,000,000,000 pixels.
  std::string huge = whole;
  for (const std::size_t at : {std::size_t{16}, std::size_t{20}}) {
    huge[at] = '\x77';
    huge[at + 1] = '\x35';
  }
  bad.push_back(write("huge.png", huge));
  bad.push_back(file("missing.png"));
  bad.push_back(model());  // a folder
  for (const fs::path& path : bad) {
    const Said said = say({"caption", "--model", model(), path});
    EXPECT_EQ(said.status, failure) << path;
    EXPECT_NE(said.err.find(path.filename().string()), std::string::npos) << said.err;
  }
}

TEST_F(CaptionCommand, TooManyPixelsAreRefusedBeforeTheyAreRead) {
  // A good thirty million zeros pack into some forty kilobytes.
  write_png(file("vast.png"), std::vector<std::uint8_t>(std::size_t{8000} * 4200), 8000, 4200);
  const Said said = say({"caption", "--model", model(), file("vast.png")});
  EXPECT_EQ(said.status, failure);
  EXPECT_NE(said.err.find("8000 x 4200"), std::string::npos) << said.err;
}

TEST_F(CaptionCommand, AsksForWhatItNeeds) {
  EXPECT_EQ(say({"caption", "--model", model()}).status, usage) << "no picture";
  EXPECT_EQ(say({"caption", "--save-samples", file("s"), file("a.png")}).status, usage);
  write_png(file("a.png"), checks(64 * 64), 64, 64);
  EXPECT_EQ(say({"caption", "--model", model(), "--attention", "hard", file("a.png")}).status,
            failure)
      << "the model is soft";
  EXPECT_EQ(say({"caption", "--attention", "sideways", file("a.png")}).status, usage);
  EXPECT_EQ(say({"caption", "--model", model(), "--map", file("m.txt"), file("a.png")}).status,
            usage);
  EXPECT_EQ(say({"train", "caption", "--out", file("t"), "--model", "rnn"}).status, failure);
  EXPECT_EQ(say({"train", "pronounce", "--out", file("t"), "--attention", "soft"}).status,
            failure);
}

TEST(Pictures, TextArtHasInkWhereTheCanvasHas) {
  tasks::Picture canvas{64, 64, 1, std::vector<std::uint8_t>(64 * 64, 0)};
  for (std::size_t x = 3; x < 6; ++x)
    canvas.pixels[10 * 64 + x] = canvas.pixels[11 * 64 + x] = 255;
  const std::string art = text_art(canvas);
  EXPECT_EQ(art, "\n\n\n\n\n   @@@\n" + std::string(26, '\n'));
}

}  // namespace
}  // namespace attn::tools
