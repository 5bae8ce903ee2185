#include "tools/attn/output_path.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "attn/core/error.hpp"
#include "tasks/scratch.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

TEST(OutputPath, AFileNeedsAFolderAndAFolderOneAboveIt) {
  const tasks::Scratch scratch;
  const fs::path file = scratch.write("there", "x");
  EXPECT_NO_THROW(check_output_file(scratch.path() / "new"));
  EXPECT_NO_THROW(check_output_file(file)) << "it will be replaced";
  EXPECT_NO_THROW(check_output_folder(scratch.path()));
  EXPECT_NO_THROW(check_output_folder(scratch.path() / "a" / "b"));
  EXPECT_THROW(check_output_file(scratch.path()), FileError) << "a folder";
  EXPECT_THROW(check_output_file(scratch.path() / "none" / "x"), FileError);
  EXPECT_THROW(check_output_file(file / "x"), FileError);
  EXPECT_THROW(check_output_folder(file), FileError);
  EXPECT_THROW(check_output_folder(file / "below"), FileError);
  EXPECT_FALSE(fs::exists(scratch.path() / "new")) << "nothing is made";
  EXPECT_FALSE(fs::exists(scratch.path() / "a"));
}

TEST(OutputPath, AFolderThatIsNotOursIsToldSo) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  const tasks::Scratch scratch;
  fs::permissions(scratch.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const std::string said =
      tasks::message_of<FileError>([&] { check_output_file(scratch.path() / "x"); });
  fs::permissions(scratch.path(), fs::perms::owner_all);
  EXPECT_NE(said.find("cannot be written"), std::string::npos) << said;
}

TEST(OutputPath, IsLookedAtBeforeTheWork) {
  ASSERT_EQ(setenv("ATTN_MODELS", ATTN_SHIPPED_MODELS, 1), 0);
  const Said map = say({"pronounce", "cat", "--map", "/no/such/folder/x.json"});
  EXPECT_EQ(map.status, failure);
  EXPECT_EQ(map.out, "") << "it was answered first";
  EXPECT_NE(map.err.find("there is no folder"), std::string::npos) << map.err;
  const Said eval = say({"eval", "pronounce", "--answers", "/no/such/folder/x.jsonl"});
  EXPECT_EQ(eval.status, failure);
  EXPECT_NE(eval.err.find("there is no folder"), std::string::npos) << eval.err;
  unsetenv("ATTN_MODELS");
  const tasks::Scratch scratch;
  const std::string file = scratch.write("file", "x");
  const Said data = say({"data", "pronounce", "--out", file + "/below"});
  EXPECT_EQ(data.status, failure);
  EXPECT_NE(data.err.find("is no folder"), std::string::npos) << data.err;
}

}  // namespace
}  // namespace attn::tools
