// A file is replaced whole or not at all, on a full disk and after an exception too.

// SPDX-License-Identifier: Apache-2.0

#include "attn/files/atomic_write.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "attn/core/error.hpp"
#include "attn/files/read_file.hpp"
#include "files/support.hpp"

namespace attn::files {
namespace {

constexpr std::uint64_t kMost = 1 << 20;

/// While it lives no file may grow past `bytes`: what a full disk looks like to a writer.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit small = {bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  void (*handler_)(int);
  rlimit old_ = {};
};

TEST(AtomicWrite, CreatesAndReplaces) {
  const TemporaryFolder folder;
  atomic_write(folder / "a", "first");
  EXPECT_EQ(read_text(folder / "a", kMost), "first");
  atomic_write(folder / "a", "");
  EXPECT_EQ(read_text(folder / "a", kMost), "");
  atomic_write(folder / "a", "third");
  EXPECT_EQ(read_text(folder / "a", kMost), "third");
  EXPECT_EQ(folder.count(), 1);
}

TEST(AtomicWrite, ShowsNothingBeforeTheCommit) {
  const TemporaryFolder folder;
  atomic_write(folder / "a", "old");
  AtomicFile file(folder / "a");
  file.write("new");
  EXPECT_EQ(read_text(folder / "a", kMost), "old");
  file.commit();
  EXPECT_EQ(read_text(folder / "a", kMost), "new");
  EXPECT_THROW(file.write("more"), FileError);
  EXPECT_THROW(file.commit(), FileError);
}

TEST(AtomicWrite, AnExceptionLeavesTheOldFileAndNoOther) {
  const TemporaryFolder folder;
  atomic_write(folder / "a", "old");
  const auto interrupted = [&] {
    AtomicFile file(folder / "a");
    file.write("half of the new");
    throw std::logic_error("stopped");
  };
  EXPECT_THROW(interrupted(), std::logic_error);
  EXPECT_EQ(read_text(folder / "a", kMost), "old");
  EXPECT_EQ(folder.count(), 1);
}

TEST(AtomicWrite, AFullDiskIsAnErrorThatLeavesTheOldFile) {
  const TemporaryFolder folder;
  atomic_write(folder / "a", "old");
  const std::string large(100'000, 'x');
  std::string message;
  {
    const SmallDisk disk(4096);
    message = message_of([&] { atomic_write(folder / "a", large); });
  }
  expect_mentions(message, "cannot write");
  expect_mentions(message, (folder / "a").string());
  expect_mentions(message, "unchanged");
  EXPECT_EQ(read_text(folder / "a", kMost), "old");
  EXPECT_EQ(folder.count(), 1);
}

TEST(AtomicWrite, AFailedRenameLeavesNothingBehind) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "a");
  file.write("new");
  std::filesystem::create_directory(folder / "a");
  expect_mentions(message_of([&] { file.commit(); }), "cannot replace");
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a"));
  EXPECT_EQ(folder.count(), 1);
}

TEST(AtomicWrite, RefusesWhatIsNoRegularFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::filesystem::create_directory(folder / "sub");
  for (const auto& path : {folder / "pipe", folder / "sub", std::filesystem::path("/dev/null"),
                           folder / "sub/", std::filesystem::path()})
    EXPECT_THROW(atomic_write(path, "x"), FileError) << path;
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(folder.count(), 2);
}

TEST(AtomicWrite, AMissingFolderIsAnErrorThatNamesTheFile) {
  const TemporaryFolder folder;
  const auto path = folder / "none" / "a";
  expect_mentions(message_of([&] { atomic_write(path, "x"); }), path.string());
}

TEST(AtomicWrite, AZeroByteInAPathIsAnError) {
  const TemporaryFolder folder;
  const std::filesystem::path path = (folder / "a").string() + std::string("\0b", 2);
  EXPECT_THROW(atomic_write(path, "x"), FileError);
  EXPECT_EQ(folder.count(), 0);
}

TEST(AtomicWrite, FollowsALinkAndKeepsIt) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  atomic_write(folder / "sub/real", "old");
  std::filesystem::create_symlink("sub/real", folder / "link");
  atomic_write(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_text(folder / "sub/real", kMost), "new");
}

TEST(AtomicWrite, ARingOfLinksIsAnError) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("b", folder / "a");
  std::filesystem::create_symlink("a", folder / "b");
  EXPECT_THROW(atomic_write(folder / "a", "x"), FileError);
}

TEST(AtomicWrite, KeepsThePermissionsOfTheOldFile) {
  const TemporaryFolder folder;
  atomic_write(folder / "a", "old");
  using std::filesystem::perms;
  const perms mode = perms::owner_read | perms::owner_write | perms::group_read;
  std::filesystem::permissions(folder / "a", mode);
  atomic_write(folder / "a", "new");
  EXPECT_EQ(std::filesystem::status(folder / "a").permissions(), mode);
}

TEST(AtomicWrite, TakesTheLongestNameThereIs) {
  const TemporaryFolder folder;
  const std::string name(255, 'n');
  atomic_write(folder / name, "x");
  EXPECT_EQ(read_text(folder / name, kMost), "x");
}

}  // namespace
}  // namespace attn::files
