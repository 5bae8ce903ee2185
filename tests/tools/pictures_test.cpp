// Picture files of others: PNG, JPEG and GIF are read by what is in them; what is damaged, far
// too large or another format is an error that names the file.

#include "tools/attn/pictures.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/value.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/png.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

using Colour = std::vector<int>;
const Colour kRed{255, 0, 0};
const Colour kBlue{0, 0, 255};
const Colour kGreen{0, 255, 0};
const Colour kWhite{255, 255, 255};

/// JPEG keeps colours only nearly.
constexpr int kNearly = 6;

Colour at(const tasks::Picture& picture, std::int64_t x, std::int64_t y) {
  const std::uint8_t* pixel =
      &picture.pixels[static_cast<std::size_t>((y * picture.width + x) * 3)];
  return {pixel[0], pixel[1], pixel[2]};
}

bool is_nearly(const Colour& seen, const Colour& wanted) {
  for (std::size_t i = 0; i < 3; ++i)
    if (std::abs(seen[i] - wanted[i]) > kNearly) return false;
  return true;
}

class PictureFiles : public testing::Test {
 protected:
  void SetUp() override {
    if (program_beside("attn-picture").empty()) GTEST_SKIP() << "attn-picture was not built";
  }

  static fs::path given(const std::string& name) {
    return fs::path(ATTN_TEST_DATA) / "pictures" / name;
  }
  static std::string bytes_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  fs::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << bytes;
    return folder_.path() / name;
  }
  /// What is told about a file that is not read.
  static std::string complaint(const fs::path& path) {
    try {
      (void)read_film(path);
    } catch (const FileError& error) {
      return error.what();
    }
    return "";
  }
  static bool reads(const std::string& name) {
    return complaint(given(name)).find("was built without") == std::string::npos;
  }

  tasks::ScratchFolder folder_{fs::temp_directory_path()};
};

TEST_F(PictureFiles, EveryJpegHasItsColours) {
  if (!reads("plain.jpg")) GTEST_SKIP() << "libjpeg is not here";
  for (const char* name : {"plain.jpg", "progressive.jpg", "ink.jpg"}) {
    const tasks::Picture picture = read_picture(given(name));
    ASSERT_EQ(picture.width, 16) << name;
    ASSERT_EQ(picture.height, 8) << name;
    ASSERT_EQ(picture.channels, 3) << name;
    EXPECT_TRUE(is_nearly(at(picture, 2, 4), kRed)) << name;
    EXPECT_TRUE(is_nearly(at(picture, 13, 4), kBlue)) << name;
  }
  const tasks::Picture grey = read_picture(given("grey.jpg"));
  EXPECT_TRUE(is_nearly(at(grey, 2, 4), {200, 200, 200}));
  EXPECT_TRUE(is_nearly(at(grey, 13, 4), {50, 50, 50}));
}

TEST_F(PictureFiles, ACameraThatWasHeldUprightIsTurned) {
  if (!reads("turned.jpg")) GTEST_SKIP() << "libjpeg is not here";
  // Stored red left of blue, seen red above blue: a quarter to the right.
  const tasks::Picture picture = read_picture(given("turned.jpg"));
  ASSERT_EQ(picture.width, 8);
  ASSERT_EQ(picture.height, 16);
  EXPECT_TRUE(is_nearly(at(picture, 4, 2), kRed));
  EXPECT_TRUE(is_nearly(at(picture, 4, 13), kBlue));
}

TEST_F(PictureFiles, FramesOfAFilmLieOnTheOnesBefore) {
  if (!reads("film.gif")) GTEST_SKIP() << "libgif is not here";
  const Film film = read_film(given("film.gif"));
  ASSERT_EQ(film.frames.size(), 4u);
  // A frame that claims no time is shown for a tenth of a second.
  EXPECT_EQ(film.milliseconds, (std::vector<std::int64_t>{70, 200, 100, 50}));
  for (const tasks::Picture& frame : film.frames) {
    EXPECT_EQ(frame.width, 4);
    EXPECT_EQ(frame.height, 2);
  }
  for (std::int64_t x = 0; x < 4; ++x) EXPECT_EQ(at(film.frames[0], x, 1), kRed);
  // Two pixels of blue, the second of them transparent; then all is as before.
  EXPECT_EQ(at(film.frames[1], 1, 0), kBlue);
  EXPECT_EQ(at(film.frames[1], 2, 0), kRed);
  EXPECT_EQ(at(film.frames[2], 1, 0), kGreen) << "an interlaced square over it";
  EXPECT_EQ(at(film.frames[2], 2, 0), kRed);
  EXPECT_EQ(at(film.frames[3], 0, 0), kWhite) << "the square was taken away";
  EXPECT_EQ(at(film.frames[3], 2, 1), kBlue);
  EXPECT_EQ(read_picture(given("film.gif")), film.frames[0]);
}

TEST_F(PictureFiles, AreKnownByWhatIsInThem) {
  write_png(folder_.path() / "a.png", std::vector<std::uint8_t>(6, 7), 2, 3);
  const fs::path other = write("a.jpg", bytes_of(folder_.path() / "a.png"));
  EXPECT_EQ(read_picture(other), read_picture(folder_.path() / "a.png"));
  EXPECT_EQ(read_film(other).milliseconds, std::vector<std::int64_t>{0});
}

TEST_F(PictureFiles, OtherFormatsAreRefusedByName) {
  using namespace std::string_literals;
  const std::pair<const char*, std::string> kOthers[] = {
      {"WebP", "RIFF\x24\0\0\0WEBPVP8 "s},
      {"BMP", "BM\x46\0\0\0\0\0"s},
      {"TIFF", "II*\0\x08\0\0\0"s},
      {"SVG", "<svg xmlns='…'/>"s},
      {"HEIC", "\0\0\0\x18"s + "ftypheic\0\0"s},
      {"AVIF", "\0\0\0\x18"s + "ftypavif\0\0"s},
      {"no picture", "this is no picture"s},
      {"no picture", "\x89PN"s},
      {"empty", ""s}};
  for (const auto& [name, bytes] : kOthers) {
    const std::string told = complaint(write("mine.png", bytes));
    EXPECT_NE(told.find(name), std::string::npos) << told;
    EXPECT_NE(told.find("mine.png"), std::string::npos) << told;
  }
}

TEST_F(PictureFiles, WhatIsCutOrChangedIsAnErrorOrAPicture) {
  for (const char* name : {"plain.jpg", "progressive.jpg", "ink.jpg", "film.gif"}) {
    if (!reads(name)) continue;
    const std::string whole = bytes_of(given(name));
    // Without its end no file is whole: 2 bytes of a JPEG, 1 of a GIF are the mark of it.
    for (std::size_t size = 1; size + 2 < whole.size(); size += 13) {
      const std::string told = complaint(write("cut", whole.substr(0, size)));
      EXPECT_NE(told.find("cut"), std::string::npos) << name << " of " << size << " bytes";
    }
    for (std::size_t i = 0; i < whole.size(); i += 17) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ 0x5a);
      const std::string told = complaint(write("changed", changed));
      EXPECT_EQ(told.find("broke down"), std::string::npos) << name << ", byte " << i;
    }
  }
}

TEST_F(PictureFiles, SizesAreRefusedBeforeAnythingIsDecoded) {
  if (reads("film.gif")) {
    // A screen of 65535 x 65535 pixels.
    std::string huge = bytes_of(given("film.gif"));
    for (std::size_t i = 6; i < 10; ++i) huge[i] = '\xff';
    EXPECT_NE(complaint(write("huge", huge)).find("65535 x 65535"), std::string::npos);
    // A small screen with a frame of that size.
    huge = bytes_of(given("film.gif"));
    const std::size_t frame = huge.find(std::string("\x2c\0\0\0\0", 5));
    for (std::size_t i = frame + 5; i < frame + 9; ++i) huge[i] = '\xff';
    EXPECT_NE(complaint(write("huge", huge)).find("65535 x 65535"), std::string::npos);
  }
  if (reads("plain.jpg")) {
    std::string huge = bytes_of(given("plain.jpg"));
    const std::size_t size = huge.find("\xff\xc0");
    for (std::size_t i = size + 5; i < size + 9; ++i) huge[i] = '\xfe';
    EXPECT_NE(complaint(write("huge", huge)).find("65278 x 65278"), std::string::npos);
  }
}

TEST_F(PictureFiles, WhatIsNoFileIsTold) {
  EXPECT_NE(complaint(folder_.path()).find(folder_.path().filename().string()),
            std::string::npos);
  EXPECT_NE(complaint(folder_.path() / "missing.gif").find("missing.gif"), std::string::npos);
}

}  // namespace
}  // namespace attn::tools
