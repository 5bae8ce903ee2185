// safetensors files are read and written, and every kind of damage to the header is refused.

// SPDX-License-Identifier: Apache-2.0

#include "attn/files/safetensors.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "files/support.hpp"

namespace attn::files {
namespace {

using namespace std::string_literals;

std::string file_of(std::string_view header, std::string_view data = "") {
  return little_endian(header.size(), 8) + std::string(header) + std::string(data);
}

Safetensors parse(std::string_view file) {
  return parse_safetensors(bytes_of(file), "here");
}

/// One tensor called "t".
std::string one(std::string_view dtype, std::string_view shape, std::string_view offsets,
                std::string_view data) {
  return file_of("{\"t\":{\"dtype\":" + std::string(dtype) + ",\"shape\":" +
                     std::string(shape) + ",\"data_offsets\":" + std::string(offsets) + "}}",
                 data);
}

/// The message for a damaged file, after checks that hold for all of them.
std::string refusal(std::string_view file) {
  const std::string message = message_of([&] { parse(file); });
  EXPECT_TRUE(message.starts_with("here: ")) << message;
  EXPECT_LT(message.size(), 2000u);
  EXPECT_EQ(printable(message, 2000), message);
  return message;
}

std::string header_refusal(std::string_view header) {
  return refusal(file_of(header));
}

TEST(Safetensors, NamesTheFormatOfAnotherFile) {
  // The first member's name follows 30 bytes, and its length is at byte 26.
  const auto zip = [](std::string_view member) {
    return "PK\3\4"s + std::string(22, '\0') + little_endian(member.size(), 2) +
           std::string(2, '\0') + std::string(member) + std::string(64, 'x');
  };
  const std::vector<std::pair<std::string, const char*>> cases = {
      {zip("archive/data.pkl"), "a PyTorch file"},
      {zip("weights.npy"), "a NumPy archive"},
      {zip("word/document.xml"), "a zip archive"},
      {"PK\3\4\0\0\x08\x08"s, "a zip archive"},  // as torch.save begins, and cut there
      {"\x80\x02\x8a\x0al\xfc\x9c"s + "F\xf9\x20"s, "a Python pickle"},
      {"\x93NUMPY\x01\0v\0{'descr'"s, "a NumPy array"},
      {"\x89HDF\r\n\x1a\n\0\0"s, "an HDF5 file"},
      {"GGUF\3\0\0\0\x10\0"s, "a GGUF file"},
      {"\x1f\x8b\x08\0\0\0\0\0\0\3"s, "gzip"},
      {"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"},
  };
  for (const auto& [file, word] : cases) {
    const std::string message = refusal(file);
    EXPECT_NE(message.find("not safetensors but "), std::string::npos) << message;
    EXPECT_NE(message.find(word), std::string::npos) << word << " in " << message;
  }
  EXPECT_NE(refusal(zip("archive/data.pkl")).find("safetensors.torch.save_file"),
            std::string::npos);
  // A header of 0x280 bytes begins like a pickle and is none.
  EXPECT_EQ(parse(file_of("{}" + std::string(0x280 - 2, ' '))).tensors().size(), 0u);
}

TEST(Safetensors, ReadsAFileWrittenByHand) {
  const auto file = parse(file_of(
      R"({"__metadata__":{"k":"v"},"b":{"dtype":"I16","shape":[2],"data_offsets":[4,8]},)"
      R"("a":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]}}   )",
      "\x01\x02\x03\x04\xff\xff\x02\x01"));
  EXPECT_EQ(file.metadata(), (Metadata{{"k", "v"}}));
  ASSERT_EQ(file.tensors().size(), 2u);
  EXPECT_EQ(file.tensors()[0].name, "a");
  EXPECT_EQ(file.tensors()[1].name, "b");
  EXPECT_EQ(file.at("a").shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(file.as<std::uint8_t>("a"), (std::vector<std::uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(file.as<std::int16_t>("b"), (std::vector<std::int16_t>{-1, 0x102}));
  EXPECT_EQ(file.find("c"), nullptr);
}

TEST(Safetensors, ReadsEveryElementType) {
  const std::array<std::pair<const char*, DType>, 10> types = {{{"F64", DType::f64},
                                                                {"F32", DType::f32},
                                                                {"BF16", DType::bf16},
                                                                {"F16", DType::f16},
                                                                {"I64", DType::i64},
                                                                {"I32", DType::i32},
                                                                {"I16", DType::i16},
                                                                {"I8", DType::i8},
                                                                {"U8", DType::u8},
                                                                {"BOOL", DType::boolean}}};
  for (const auto& [name, dtype] : types) {
    const auto size = size_of(dtype);
    const auto file =
        parse(one('"' + std::string(name) + '"', "[3]", "[0," + std::to_string(3 * size) + "]",
                  std::string(3 * size, '\1')));
    EXPECT_EQ(file.at("t").dtype, dtype) << name;
  }
}

TEST(Safetensors, ReadsScalarsEmptyTensorsAndEmptyFiles) {
  EXPECT_EQ(parse(one("\"F32\"", "[]", "[0,4]", "\0\0\x80\x3f"s)).as<float>("t"),
            std::vector<float>{1.0f});
  EXPECT_TRUE(parse(one("\"F32\"", "[3,0]", "[0,0]", "")).view<float>("t").empty());
  EXPECT_TRUE(parse(file_of("{}")).tensors().empty());
  EXPECT_TRUE(parse(file_of(R"({"__metadata__":{}})")).tensors().empty());
}

TEST(Safetensors, EmptyTensorsMayStandAnywhereBetweenOthers) {
  const auto file = parse(file_of(R"({"z":{"dtype":"U8","shape":[0],"data_offsets":[1,1]},)"
                                  R"("y":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},)"
                                  R"("a":{"dtype":"F64","shape":[0],"data_offsets":[0,0]},)"
                                  R"("x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                                  "\x07\x08"));
  EXPECT_EQ(file.as<std::uint8_t>("y"), std::vector<std::uint8_t>{8});
}

TEST(Safetensors, UnalignedDataAreCopiedButNotViewed) {
  const auto file = parse(file_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                  R"("b":{"dtype":"I32","shape":[1],"data_offsets":[1,5]}})",
                                  "\x07\x01\x00\x00\x00"s));
  EXPECT_EQ(file.as<std::int32_t>("b"), std::vector<std::int32_t>{1});
  expect_mentions(message_of([&] { (void)file.view<std::int32_t>("b"); }), "\"b\"");
}

TEST(Safetensors, AskingForAnotherTypeOrNameSaysWhatThereIs) {
  const auto file = parse(one("\"I8\"", "[1]", "[0,1]", "\x01"));
  const std::string type = message_of([&] { (void)file.as<float>("t"); });
  expect_mentions(type, "i8");
  expect_mentions(type, "f32");
  const std::string name = message_of([&] { (void)file.at("u"); });
  expect_mentions(name, "\"u\"");
  expect_mentions(name, "\"t\"");
  EXPECT_THROW((void)file.as<std::uint8_t>("t"), FileError);
}

TEST(Safetensors, ViewsOutliveAMove) {
  auto file = parse(one("\"I8\"", "[2]", "[0,2]", "\x01\x02"));
  const auto view = file.view<std::int8_t>("t");
  const Safetensors moved = std::move(file);
  EXPECT_EQ(moved.view<std::int8_t>("t").data(), view.data());
  EXPECT_EQ(view[1], 2);
}

TEST(SafetensorsDamage, ShortFile) {
  refusal("");
  expect_mentions(refusal("\x02\0\0\0\0\0\0"s), "7 bytes");
  expect_mentions(refusal("\x02\0\0\0\0\0\0\0{"s), "at most 1");
}

TEST(SafetensorsDamage, HugeHeaderLength) {
  for (const std::uint64_t size : {std::uint64_t{3}, std::uint64_t{1} << 32, ~std::uint64_t{0},
                                   ~std::uint64_t{0} - 7, std::uint64_t{1} << 63})
    expect_mentions(refusal(little_endian(size, 8) + "{}"), std::to_string(size));
}

TEST(SafetensorsDamage, HeaderBeyondTheLimitOfTheFormat) {
  const TemporaryFolder folder;
  atomic_write(folder / "a", little_endian(100'000'001, 8));
  std::filesystem::resize_file(folder / "a", 200'000'000);
  expect_mentions(message_of([&] { read_safetensors(folder / "a"); }), "at most 100000000");
}

TEST(SafetensorsDamage, HeaderThatIsNotUtf8) {
  expect_mentions(header_refusal("{\"\xff\":{}}"), "UTF-8");
  header_refusal("{\"\xed\xa0\x80\":{}}");
}

TEST(SafetensorsDamage, HeaderThatIsNotJson) {
  for (const char* header :
       {"", " {}", "{", "{]", "{}x", "{}{}", "{\"a\"}", "{\"a\":}",
        "{\"a\":{\"dtype\":\"F32\",}}", "[]", "\"\"", "1", "null", "\xef\xbb\xbf{}", "{'a':1}"})
    header_refusal(header);
}

TEST(SafetensorsDamage, ZeroByteThatHidesText) {
  expect_mentions(header_refusal(std::string_view("{}\0\0", 4)), "zero byte");
}

TEST(SafetensorsDamage, TensorNameTwice) {
  const std::string entry = R"("t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  expect_mentions(header_refusal("{" + entry + "," + entry + "}"), "\"t\" a second time");
}

TEST(SafetensorsDamage, KeyTwiceInATensor) {
  expect_mentions(
      header_refusal(R"({"t":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})"),
      "\"dtype\" a second time");
  header_refusal(R"({"t":{"dtype":"U8","shape":[0],"shape":[0],"data_offsets":[0,0]}})");
  header_refusal(
      R"({"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"data_offsets":[0,0]}})");
}

TEST(SafetensorsDamage, MetadataTwice) {
  header_refusal(R"({"__metadata__":{},"__metadata__":{}})");
  header_refusal(R"({"__metadata__":{"a":"1","a":"2"}})");
}

TEST(SafetensorsDamage, DeepNesting) {
  std::string brackets = "{\"t\":";
  for (int i = 0; i < 1'000'000; ++i) brackets += "[";
  header_refusal(brackets);
  std::string objects;
  for (int i = 0; i < 500'000; ++i) objects += "{\"a\":";
  header_refusal(objects);
  header_refusal(R"({"__metadata__":{"a":{"b":"c"}}})");
}

TEST(SafetensorsDamage, WrongTypes) {
  for (const char* value : {"null", "true", "1", "-1", "0.5", "\"x\"", "[]"}) {
    const std::string text = value;
    header_refusal("{\"t\":" + text + "}");
    header_refusal("{\"__metadata__\":" + text + "}");
    if (text != "\"x\"") header_refusal("{\"__metadata__\":{\"k\":" + text + "}}");
    refusal(one(text, "[0]", "[0,0]", ""));
    if (text != "[]") refusal(one("\"U8\"", text, "[0,0]", ""));
    refusal(one("\"U8\"", "[0]", text, ""));
    if (text != "1") refusal(one("\"U8\"", "[" + text + "]", "[0,0]", ""));
    refusal(one("\"U8\"", "[0]", "[0," + text + "]", ""));
  }
  refusal(one("{}", "[0]", "[0,0]", ""));
  refusal(one("\"U8\"", "{}", "[0,0]", ""));
  refusal(one("\"U8\"", "[0]", "{}", ""));
}

TEST(SafetensorsDamage, MissingAndUnknownFields) {
  expect_mentions(header_refusal(R"({"t":{}})"), "missing");
  expect_mentions(header_refusal(R"({"t":{"dtype":"U8","shape":[0]}})"), "data_offsets");
  expect_mentions(
      header_refusal(R"({"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":1}})"),
      "\"x\"");
}

TEST(SafetensorsDamage, UnknownDtype) {
  for (const char* dtype : {"\"F8\"", "\"f32\"", "\"\"", "\"F32 \"", "\"C64\""})
    expect_mentions(refusal(one(dtype, "[0]", "[0,0]", "")), "accepted: F64, F32");
}

TEST(SafetensorsDamage, NegativeOrFractionalShape) {
  expect_mentions(refusal(one("\"U8\"", "[-1]", "[0,1]", "x")), "-1");
  expect_mentions(refusal(one("\"U8\"", "[1.0]", "[0,1]", "x")), "1.0");
  refusal(one("\"U8\"", "[1e0]", "[0,1]", "x"));
}

TEST(SafetensorsDamage, ShapeThatOverflows) {
  refusal(one("\"U8\"", "[9223372036854775808]", "[0,0]", ""));
  refusal(one("\"U8\"", "[18446744073709551616]", "[0,0]", ""));
  refusal(one("\"U8\"", "[1" + std::string(400, '0') + "]", "[0,0]", ""));
  // The products are 2^64 and 2^64 + 8: zero and eight to who does not look.
  refusal(one("\"U8\"", "[4294967296,4294967296]", "[0,0]", ""));
  refusal(one("\"F64\"", "[2305843009213693953]", "[0,8]", "12345678"));
  refusal(one("\"U8\"", "[4294967296,4294967296,0]", "[0,0]", ""));
}

TEST(SafetensorsDamage, TooManyDimensions) {
  std::string shape = "[1";
  for (int i = 0; i < 64; ++i) shape += ",1";
  expect_mentions(refusal(one("\"U8\"", shape + "]", "[0,1]", "x")), "64 dimensions");
}

TEST(SafetensorsDamage, OffsetsOutOfRangeOrReversed) {
  expect_mentions(refusal(one("\"U8\"", "[5]", "[0,5]", "1234")), "[0, 5]");
  refusal(one("\"U8\"", "[1]", "[4,5]", "1234"));
  refusal(one("\"U8\"", "[2]", "[3,1]", "1234"));
  refusal(one("\"U8\"", "[2]", "[9223372036854775807,1]", "1234"));
  refusal(one("\"U8\"", "[4]", "[0,18446744073709551615]", "1234"));
  refusal(one("\"U8\"", "[4]", "[-4,0]", "1234"));
}

TEST(SafetensorsDamage, WrongNumberOfOffsets) {
  for (const char* offsets : {"[]", "[0]", "[0,4,8]"})
    refusal(one("\"U8\"", "[4]", offsets, "1234"));
}

TEST(SafetensorsDamage, OffsetsThatOverlap) {
  expect_mentions(refusal(file_of(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                                  R"("b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
                                  "1234")),
                  "overlap");
  refusal(file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                  R"("b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
                  "1234"));
}

TEST(SafetensorsDamage, GapsAndTrailingData) {
  expect_mentions(refusal(one("\"U8\"", "[3]", "[1,4]", "1234")), "gap");
  expect_mentions(refusal(one("\"U8\"", "[3]", "[0,3]", "1234")), "behind the last");
  refusal(file_of("{}", "1"));
  // An empty tensor must not stand inside another.
  refusal(file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                  R"("b":{"dtype":"U8","shape":[0],"data_offsets":[2,2]}})",
                  "1234"));
}

TEST(SafetensorsDamage, SizeThatIsNotShapeTimesElement) {
  expect_mentions(refusal(one("\"F32\"", "[2]", "[0,4]", "1234")), "takes 8");
  refusal(one("\"F32\"", "[]", "[0,0]", ""));
}

TEST(SafetensorsDamage, BooleanThatIsNeitherZeroNorOne) {
  expect_mentions(refusal(one("\"BOOL\"", "[3]", "[0,3]", "\0\1\2"s)), "element 2 is 2");
}

TEST(SafetensorsDamage, LongNamesAreCutInMessages) {
  header_refusal("{\"" + std::string(100'000, 'n') + "\":{}}");
  header_refusal("{\"" + std::string(1'000'000, 'n'));
}

TEST(WriteSafetensors, ReadsBackEqualWithEveryTensorAligned) {
  const TemporaryFolder folder;
  const std::vector<std::uint8_t> bytes = {1, 2, 3};
  const std::vector<double> doubles = {0.5, -1};
  const std::vector<Float16> halves = {Float16(1.5f)};
  const std::array<bool, 2> flags = {true, false};
  const std::vector<std::int64_t> none;
  const std::vector<ArrayView> tensors = {
      array_view("bytes", {3}, bytes), array_view("doubles", {2, 1}, doubles),
      array_view("halves", {}, halves), array_view("flags", {2}, flags),
      array_view("none \"\u6ce8\"\n", {0, 7}, none)};
  write_safetensors(folder / "a", tensors, {{"case", "{\"a\": 1}"}, {"", "\n"}});

  const auto file = read_safetensors(folder / "a");
  EXPECT_EQ(file.metadata(), (Metadata{{"case", "{\"a\": 1}"}, {"", "\n"}}));
  ASSERT_EQ(file.tensors().size(), tensors.size());
  EXPECT_EQ(file.as<std::uint8_t>("bytes"), bytes);
  EXPECT_EQ(file.view<double>("doubles")[1], -1);
  EXPECT_EQ(file.view<Float16>("halves")[0].bits, halves[0].bits);
  EXPECT_EQ(file.as<bool>("flags"), (std::vector<bool>{true, false}));
  EXPECT_TRUE(file.view<bool>("flags")[0]);
  EXPECT_EQ(file.at("none \"\u6ce8\"\n").shape, (std::vector<std::int64_t>{0, 7}));
}

TEST(WriteSafetensors, TheSameArgumentsGiveTheSameBytes) {
  const TemporaryFolder folder;
  const std::vector<float> values = {1, 2};
  const std::vector<ArrayView> tensors = {array_view("a", {2}, values)};
  write_safetensors(folder / "a", tensors, {{"k", "v"}});
  write_safetensors(folder / "b", tensors, {{"k", "v"}});
  EXPECT_EQ(read_text(folder / "a", 1000), read_text(folder / "b", 1000));
  write_safetensors(folder / "a", {});
  EXPECT_TRUE(read_safetensors(folder / "a").tensors().empty());
}

TEST(WriteSafetensors, MisuseIsRefusedAndTheOldFileStays) {
  const TemporaryFolder folder;
  const std::vector<float> values = {1, 2};
  const auto good = array_view("a", {2}, values);
  write_safetensors(folder / "a", std::vector{good});
  const auto refuse = [&](const std::vector<ArrayView>& tensors, const Metadata& metadata) {
    EXPECT_THROW(write_safetensors(folder / "a", tensors, metadata), InvalidArgument);
  };
  refuse({good, good}, {});
  refuse({array_view("b", {3}, values)}, {});
  refuse({array_view("__metadata__", {2}, values)}, {});
  refuse({array_view("\xff", {2}, values)}, {});
  refuse({good}, {{"k", "\xff"}});
  refuse({good}, {{"\xff", "v"}});
  EXPECT_EQ(read_safetensors(folder / "a").as<float>("a"), values);
  EXPECT_EQ(folder.count(), 1);
}

RC_GTEST_PROP(WriteSafetensors, ReadsBackEqualWhateverIsWritten,
              (const std::map<std::string, std::vector<float>>& floats,
               const std::map<std::string, std::vector<std::int16_t>>& shorts)) {
  std::vector<ArrayView> tensors;
  const auto add = [&](const std::string& name, const auto& values) {
    if (is_utf8(name))
      tensors.push_back(array_view(name, {static_cast<std::int64_t>(values.size())}, values));
  };
  for (const auto& [name, values] : floats) add("f." + name, values);
  for (const auto& [name, values] : shorts) add("s." + name, values);
  const TemporaryFolder folder;
  write_safetensors(folder / "a", tensors);
  const auto file = read_safetensors(folder / "a");
  RC_ASSERT(file.tensors().size() == tensors.size());
  for (const ArrayView& tensor : tensors) {
    RC_ASSERT(file.at(tensor.name).dtype == tensor.dtype);
    RC_ASSERT(file.at(tensor.name).shape == tensor.shape);
    RC_ASSERT(std::ranges::equal(file.at(tensor.name).bytes, tensor.bytes));
  }
}

TEST(ReadSafetensors, EveryConformanceFileLoadsAndIsAligned) {
  const std::filesystem::path data = ATTN_TEST_DATA;
  if (!std::filesystem::exists(data)) GTEST_SKIP() << data << " is not here";
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    if (entry.path().extension() != ".safetensors") continue;
    SCOPED_TRACE(entry.path());
    const auto file = read_safetensors(entry.path());
    EXPECT_FALSE(file.tensors().empty());
    for (const ArrayView& tensor : file.tensors())
      if (tensor.dtype == DType::f32) (void)file.view<float>(tensor.name);
    ++count;
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace attn::files
