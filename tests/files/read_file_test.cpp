// Whole files are read within a bound; pipes, devices and missing files are errors.

// SPDX-License-Identifier: Apache-2.0

#include "attn/files/read_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "files/support.hpp"

namespace attn::files {
namespace {

TEST(ReadFile, GivesTheBytesOnACacheLine) {
  const TemporaryFolder folder;
  const std::string text("a\0b\xff", 4);
  atomic_write(folder / "a", text);
  EXPECT_EQ(read_text(folder / "a", 4), text);
  const Bytes bytes = read_bytes(folder / "a", 4);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 64, 0u);
}

TEST(ReadFile, RefusesALargerOneBeforeItAllocates) {
  const TemporaryFolder folder;
  atomic_write(folder / "a", "12345");
  const std::string message = message_of([&] { read_bytes(folder / "a", 4); });
  expect_mentions(message, "5 bytes");
  expect_mentions(message, "at most 4");
  // A file with a hole: a tebibyte on no disk space at all.
  std::filesystem::resize_file(folder / "a", std::uintmax_t{1} << 40);
  EXPECT_THROW(read_bytes(folder / "a", 1 << 20), FileError);
}

TEST(ReadFile, NeverWaitsForAPipeOrReadsADevice) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const auto& path : {folder / "pipe", folder / "", std::filesystem::path("/dev/zero")})
    expect_mentions(message_of([&] { read_bytes(path, 100); }), "regular file");
}

TEST(ReadFile, AMissingOneIsNamed) {
  const TemporaryFolder folder;
  expect_mentions(message_of([&] { read_bytes(folder / "none", 100); }), "none");
  const std::filesystem::path zero(std::string("/dev/null\0x", 11));
  EXPECT_THROW(read_bytes(zero, 100), FileError);
}

TEST(ReadFile, OneThatShrinksWhileItIsOpenIsAnError) {
  const TemporaryFolder folder;
  atomic_write(folder / "a", "12345");
  const InputFile file(folder / "a");
  std::filesystem::resize_file(folder / "a", 3);
  std::array<std::byte, 5> out = {};
  expect_mentions(message_of([&] { file.read_at(0, out); }), "ends at byte 3");
}

}  // namespace
}  // namespace attn::files
