// Prepared data: taken into the cache by checksum, unpacked, and missed with a useful message.

#include "attn/tasks/fetch/prepared.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/text/sha256.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

class Prepared : public testing::Test {
 protected:
  Prepared() { setenv("XDG_CACHE_HOME", (scratch_.path() / "cache").c_str(), 1); }
  ~Prepared() override { unsetenv("XDG_CACHE_HOME"); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(scratch_.path() / name, std::ios::binary) << text;
  }
  static PreparedFile file(const std::string& name, const std::string& text) {
    return {name, text::sha256_hex(std::as_bytes(std::span(text))), "a public source"};
  }

  Scratch scratch_;
};

TEST_F(Prepared, IsTakenOnceAndReadFromThenOn) {
  const PreparedFile wanted = file("words.tsv", "a\tb\n");
  try {
    read_prepared(wanted, "entail");
    FAIL() << "it is not there yet";
  } catch (const FileError& error) {
    const std::string text = error.what();
    for (const std::string& part :
         {wanted.sha256, wanted.source, std::string("attn data entail --from FOLDER")})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  EXPECT_FALSE(has_prepared(wanted));
  write("words.tsv", "a\tb\n");
  EXPECT_EQ(take_prepared(scratch_.path(), std::vector{wanted}, {}),
            std::vector<std::string>{"words.tsv"});
  EXPECT_TRUE(has_prepared(wanted));
  EXPECT_EQ(read_prepared(wanted, "entail"), "a\tb\n");
}

TEST_F(Prepared, AnotherFileOfThatNameIsRefused) {
  write("words.tsv", "something else");
  const PreparedFile wanted = file("words.tsv", "a\tb\n");
  EXPECT_THROW(take_prepared(scratch_.path(), std::vector{wanted}, {}), FileError);
  EXPECT_FALSE(has_prepared(wanted));
}

TEST_F(Prepared, AFolderWithoutThemIsRefused) {
  const PreparedFile wanted = file("words.tsv", "a\tb\n");
  EXPECT_THROW(take_prepared(scratch_.path(), std::vector{wanted}, {}), FileError);
  EXPECT_THROW(take_prepared(scratch_.path() / "nowhere", std::vector{wanted}, {}), FileError);
}

TEST_F(Prepared, WhatIsNoXzIsRefused) {
  write("words.tsv.xz", "no such format");
  const PreparedFile wanted = file("words.tsv.xz", "no such format");
  EXPECT_THROW(take_prepared(scratch_.path(), std::vector{wanted}, {}), FileError);
}

}  // namespace
}  // namespace attn::tasks
