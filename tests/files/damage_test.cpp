// Random damage to valid files: each either loads or is a FileError, and none makes the reader
// take more memory than a small file can be worth.

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/json.hpp"
#include "attn/files/npy.hpp"
#include "attn/files/read_file.hpp"
#include "attn/files/safetensors.hpp"
#include "files/allocation_counter.hpp"
#include "files/support.hpp"

namespace attn::files {
namespace {

constexpr std::uint32_t kSeed = 20'240'917;
constexpr int kRounds = 20'000;
constexpr std::size_t kMostMemory = std::size_t{64} << 20;

/// Bytes and words that mean something in one of the formats.
constexpr std::string_view kTokens[] = {"{",
                                        "}",
                                        "[",
                                        "]",
                                        "\"",
                                        ",",
                                        ":",
                                        "-",
                                        "0",
                                        "9",
                                        "e99",
                                        ".",
                                        "null",
                                        "'",
                                        "(",
                                        ")",
                                        "True",
                                        "\\",
                                        "\\u0",
                                        "F64",
                                        "<f8",
                                        "|b1",
                                        "|O",
                                        "18446744073709551615",
                                        "[[",
                                        "]]",
                                        "{\"a\":",
                                        "9223372036854775807",
                                        "\"shape\"",
                                        "\"dtype\"",
                                        "\"data_offsets\"",
                                        "\xff",
                                        "\x80",
                                        "4294967296",
                                        "__metadata__"};

std::string damaged(std::string file, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return random() % std::max<std::size_t>(n, 1); };
  for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
    const std::size_t at = below(file.size());
    const std::size_t length = below(16);
    switch (below(8)) {
      case 0:
        if (!file.empty()) file[at] = static_cast<char>(file[at] ^ (1 << below(8)));
        break;
      case 1:
        if (!file.empty()) file[at] = static_cast<char>(random());
        break;
      case 2:
        file.resize(at);
        break;
      case 3:
        file.insert(at, 1, static_cast<char>(random()));
        break;
      case 4:
        file.insert(at, kTokens[below(std::size(kTokens))]);
        break;
      case 5:
        file.erase(at, length);
        break;
      case 6:
        file.insert(below(file.size()), file.substr(at, length));
        break;
      // The length of the header stands here in both formats.
      default:
        if (!file.empty())
          file[below(std::min<std::size_t>(file.size(), 12))] = static_cast<char>(random());
    }
  }
  return file;
}

/// Keeps a safetensors header's length right, so that damage reaches what lies behind it.
std::string mended(std::string file, std::size_t old_size) {
  if (file.size() < 8) return file;
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<std::uint8_t>(file[i]);
  return little_endian(length + file.size() - old_size, 8) + file.substr(8);
}

template <class Parse>
void hammer(const std::vector<std::string>& files, const Parse& parse) {
  std::mt19937 random(kSeed);
  int loaded = 0, refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string& original = files[static_cast<std::size_t>(round) % files.size()];
    std::string file = damaged(original, random);
    if (round % 2 == 0 && files[0][0] != '{') file = mended(file, original.size());
    const std::size_t before = allocated;
    try {
      parse(file);
      ++loaded;
    } catch (const FileError&) {
      ++refused;
    } catch (const std::exception& error) {
      FAIL() << "seed " << kSeed << ", round " << round << ": " << error.what();
    }
    ASSERT_LT(allocated - before, kMostMemory) << "seed " << kSeed << ", round " << round;
  }
  EXPECT_GT(loaded, 0);
  EXPECT_GT(refused, kRounds / 2);
}

TEST(Damage, TheCounterSeesWhatIsAllocated) {
  const std::size_t before = allocated;
  const Bytes bytes(1 << 20);
  EXPECT_GE(allocated - before, std::size_t{1} << 20);
}

TEST(Damage, SafetensorsLoadsOrIsAFileError) {
  const TemporaryFolder folder;
  const std::vector<float> floats = {1, 2, 3, 4, 5, 6};
  const std::vector<std::int64_t> longs = {7, -8};
  const std::vector<std::uint8_t> none;
  const bool flags[] = {true, false, true};
  write_safetensors(folder / "a", std::vector{array_view("w", {2, 3}, floats)});
  write_safetensors(
      folder / "b",
      std::vector{array_view("w", {3, 2}, floats), array_view("n", {2}, longs),
                  array_view("none", {0, 4}, none), array_view("keep", {3}, flags)},
      {{"case", R"({"name": "x"})"}, {"more", "\u6ce8\n"}});
  std::vector<std::string> files = {read_text(folder / "a", 10'000),
                                    read_text(folder / "b", 10'000)};
  hammer(files, [](const std::string& file) {
    const Safetensors read = parse_safetensors(bytes_of(file), "here");
    for (const ArrayView& tensor : read.tensors()) {
      // Touches every byte, for the address sanitizer.
      const std::string copy(reinterpret_cast<const char*>(tensor.bytes.data()),
                             tensor.bytes.size());
      ASSERT_EQ(copy.size(), *byte_count(tensor.shape, tensor.dtype));
      ASSERT_EQ(read.find(tensor.name), &tensor);
    }
  });
}

TEST(Damage, NpyLoadsOrIsAFileError) {
  const TemporaryFolder folder;
  const std::vector<double> doubles = {1, 2, 3, 4, 5, 6};
  write_npy(folder / "a", array_view("", {2, 3}, doubles));
  std::string c_order = read_text(folder / "a", 10'000);
  std::string fortran = c_order;
  fortran.replace(fortran.find("False"), 5, "True ");
  hammer({c_order, fortran}, [](const std::string& file) {
    const Npy read = parse_npy(bytes_of(file), "here");
    ASSERT_EQ(read.bytes().size(), *byte_count(read.shape(), read.dtype()));
  });
}

TEST(Damage, JsonLoadsOrIsAFileError) {
  const std::vector<std::string> files = {
      R"({"name":"x","sizes":[1,2,-3,0.5e2],"deep":{"a":[[[]],{}]},"t":true,"n":null})",
      R"([{"a":"\u6ce8\ud83d\udd0e"},{"a":"b\n"},18446744073709551615])"};
  hammer(files, [](const std::string& file) {
    const nlohmann::json value = parse_json(file, "here");
    ASSERT_EQ(parse_json(value.dump(), "again"), value);
  });
}

}  // namespace
}  // namespace attn::files
