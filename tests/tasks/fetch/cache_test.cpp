#include "attn/tasks/fetch/cache.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
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

/// A variable of the environment for the life of it.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(Cache, WhatKilledRunsLeftGoesAfterADay) {
  const Scratch scratch;
  const auto make = [](const fs::path& folder, int hours) {
    fs::create_directories(folder);
    std::ofstream(folder / "file") << "x";
    fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  const fs::path elsewhere = scratch.path() / "elsewhere";
  make(elsewhere / "fetch.AbCdEf", 48);
  const Variable home("XDG_CACHE_HOME", scratch.path().string());
  const fs::path cache = cache_folder();
  make(cache / "fetch.AbCdEf", 48);
  make(cache / "fetch.GhIjKl", 1);
  make(cache / "fetch.d", 48);
  fs::create_directory_symlink(elsewhere, cache / "fetch.MnOpQr");
  {
    const ScratchFolder folder(cache);
  }
  EXPECT_FALSE(fs::exists(cache / "fetch.AbCdEf"));
  EXPECT_TRUE(fs::exists(cache / "fetch.GhIjKl" / "file")) << "another run may be at work";
  EXPECT_TRUE(fs::exists(cache / "fetch.d" / "file")) << "no name of ours";
  EXPECT_TRUE(fs::is_symlink(cache / "fetch.MnOpQr"));
  {
    const ScratchFolder folder(elsewhere);
  }
  EXPECT_TRUE(fs::exists(elsewhere / "fetch.AbCdEf")) << "not in the cache";
}

TEST(Cache, NoFolderForTemporaryFilesIsAnErrorThatNamesIt) {
  const Variable none("TMPDIR", "/no/such/folder");
  const std::string said = message_of<FileError>([] { temporary_folder(); });
  EXPECT_NE(said.find("TMPDIR=/no/such/folder"), std::string::npos) << said;
}

}  // namespace
}  // namespace attn::tasks
