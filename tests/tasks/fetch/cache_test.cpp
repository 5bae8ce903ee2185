#include "attn/tasks/fetch/cache.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "attn/core/error.hpp"
#include "attn/files/read_file.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

TEST(Cache, WhatWasSealedComesBack) {
  const Scratch scratch;
  for (const std::string& body : {std::string(), std::string("a\nb"), std::string("\0\n", 2)}) {
    write_sealed(scratch.path() / "deep" / "file", body);
    EXPECT_EQ(read_sealed(scratch.path() / "deep" / "file"), body);
  }
}

TEST(Cache, AFileCutShortOrChangedIsNoticed) {
  const Scratch scratch;
  const fs::path path = scratch.path() / "file";
  EXPECT_EQ(read_sealed(path), std::nullopt);
  write_sealed(path, "some body of text\nand more\n");
  const std::string whole = files::read_text(path, 1 << 20);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    scratch.write("file", whole.substr(0, length));
    EXPECT_EQ(read_sealed(path), std::nullopt) << "cut at " << length;
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    scratch.write("file", changed);
    EXPECT_EQ(read_sealed(path), std::nullopt) << "changed at " << i;
  }
  scratch.write("file", whole);
  EXPECT_TRUE(read_sealed(path).has_value());
}

TEST(Cache, AFolderThatCannotBeMadeIsAnError) {
  const Scratch scratch;
  scratch.write("file", "in the way");
  EXPECT_THROW(make_folder(scratch.path() / "file" / "below"), FileError);
}

TEST(Cache, AScratchFolderGoesAway) {
  const Scratch scratch;
  fs::path path;
  {
    const ScratchFolder folder(scratch.path());
    path = folder.path();
    std::ofstream(path / "file") << "x";
    EXPECT_TRUE(fs::exists(path / "file"));
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace attn::tasks
