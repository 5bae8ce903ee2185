// NumPy files of every version and type are read and written, and damage is refused.

// SPDX-License-Identifier: Apache-2.0

#include "attn/files/npy.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
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
using Shape = std::vector<std::int64_t>;

std::string file_of(std::string_view header, std::string_view data, int version = 1) {
  return "\x93NUMPY" + little_endian(static_cast<std::uint64_t>(version), 2) +
         little_endian(header.size(), version == 1 ? 2 : 4) + std::string(header) +
         std::string(data);
}

std::string header_of(std::string_view descr, std::string_view shape,
                      std::string_view fortran = "False") {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + std::string(fortran) +
         ", 'shape': " + std::string(shape) + ", }    \n";
}

Npy parse(std::string_view file) {
  return parse_npy(bytes_of(file), "here");
}

std::string refusal(std::string_view file) {
  const std::string message = message_of([&] { parse(file); });
  EXPECT_TRUE(message.starts_with("here: ")) << message;
  EXPECT_LT(message.size(), 2000u);
  EXPECT_EQ(printable(message, 2000), message);
  return message;
}

TEST(Npy, ReadsEveryVersion) {
  for (const int version : {1, 2, 3}) {
    const Npy array = parse(file_of(header_of("|u1", "(2, 2)"), "\1\2\3\4", version));
    EXPECT_EQ(array.dtype(), DType::u8);
    EXPECT_EQ(array.shape(), (Shape{2, 2}));
    EXPECT_EQ(array.as<std::uint8_t>(), (std::vector<std::uint8_t>{1, 2, 3, 4}));
  }
}

TEST(Npy, ReadsEveryElementType) {
  const std::array<std::pair<const char*, DType>, 12> types = {{{"<f8", DType::f64},
                                                                {"<f4", DType::f32},
                                                                {"=f4", DType::f32},
                                                                {"<f2", DType::f16},
                                                                {"<i8", DType::i64},
                                                                {"<i4", DType::i32},
                                                                {"<i2", DType::i16},
                                                                {"|i1", DType::i8},
                                                                {"<i1", DType::i8},
                                                                {"|u1", DType::u8},
                                                                {"|b1", DType::boolean},
                                                                {">u1", DType::u8}}};
  for (const auto& [descr, dtype] : types) {
    const Npy array =
        parse(file_of(header_of(descr, "(2,)"), std::string(2 * size_of(dtype), '\1')));
    EXPECT_EQ(array.dtype(), dtype) << descr;
  }
}

TEST(Npy, ReadsScalarsAndEmptyArrays) {
  EXPECT_EQ(parse(file_of(header_of("<i2", "()"), "\5\0"s)).as<std::int16_t>(),
            std::vector<std::int16_t>{5});
  EXPECT_EQ(parse(file_of(header_of("<f8", "(0, 3)"), "")).shape(), (Shape{0, 3}));
  EXPECT_TRUE(parse(file_of(header_of("<f8", "(0, 3)", "True"), "")).view<double>().empty());
}

TEST(Npy, ReadsTheDictionaryHoweverItIsSpaced) {
  const Npy array =
      parse(file_of(R"({"shape":(1,),"fortran_order" : False ,'descr':"|i1"})", "\7"));
  EXPECT_EQ(array.as<std::int8_t>(), std::vector<std::int8_t>{7});
}

TEST(Npy, TurnsFortranOrderIntoCOrder) {
  // [[1, 2, 3], [4, 5, 6]] with the first dimension fastest.
  const Npy matrix = parse(file_of(header_of("|u1", "(2, 3)", "True"), "\1\4\2\5\3\6"));
  EXPECT_EQ(matrix.as<std::uint8_t>(), (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}));
  // x[i][j][k] = 100 i + 10 j + k, as two-byte elements.
  std::string data;
  for (std::uint64_t k = 0; k < 4; ++k)
    for (std::uint64_t j = 0; j < 3; ++j)
      for (std::uint64_t i = 0; i < 2; ++i) data += little_endian(100 * i + 10 * j + k, 2);
  const auto cube =
      parse(file_of(header_of("<i2", "(2, 3, 4)", "True"), data)).as<std::int16_t>();
  for (std::size_t n = 0; n < cube.size(); ++n)
    EXPECT_EQ(cube[n], static_cast<std::int16_t>(100 * (n / 12) + 10 * (n / 4 % 3) + n % 4));
}

TEST(NpyDamage, ShortFile) {
  const std::string file = file_of(header_of("|u1", "(4,)"), "\1\2\3\4");
  for (std::size_t size = 0; size < file.size(); ++size) refusal(file.substr(0, size));
  refusal(file + "x");
}

TEST(NpyDamage, WrongMagicOrVersion) {
  expect_mentions(refusal("PK\3\4 and so on"), "NUMPY");
  for (const int version : {0, 4, 255, 0x101})
    expect_mentions(refusal(file_of(header_of("|u1", "(0,)"), "", version)), "1.0, 2.0, 3.0");
}

TEST(NpyDamage, HugeHeaderLength) {
  for (const std::uint64_t size : {65'536u, 0x7fffffffu, 0xffffffffu})
    expect_mentions(refusal("\x93NUMPY\2\0"s + little_endian(size, 4) + "{}"),
                    std::to_string(size));
  refusal("\x93NUMPY\1\0\xff\xff{}"s);
}

TEST(NpyDamage, HeaderThatIsNotTheDictionary) {
  for (const char* header :
       {"", "{", "}", "{}", "x", "{'descr': '<f4'}", "{'descr'}", "{'descr': }",
        "{descr: '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': 'True', 'shape': (1,)}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
        "{,'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}"})
    refusal(file_of(header, "1234"));
}

TEST(NpyDamage, RepeatedAndUnknownKeys) {
  expect_mentions(refusal(file_of("{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, "
                                  "'shape': (1,)}",
                                  "x")),
                  "second time");
  expect_mentions(refusal(file_of("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), "
                                  "'more': 1}",
                                  "x")),
                  "\"more\"");
}

TEST(NpyDamage, ElementTypesThatAreNotAccepted) {
  for (const char* descr :
       {">f4", "|O", "<U4", "|S3", "<c8", "<u2", "<f16", "<m8", "", "<", "f4", "|f4", "|V2"})
    expect_mentions(refusal(file_of(header_of(descr, "(1,)"), "1234")), "accepted: <f8");
  expect_mentions(refusal(file_of("{'descr': [('a', '<f4')], 'fortran_order': False, "
                                  "'shape': (1,)}",
                                  "1234")),
                  "list of fields");
}

TEST(NpyDamage, ShapesThatAreNone) {
  for (const char* shape :
       {"(1)", "1", "[1]", "(-1,)", "(1.0,)", "(1,,)", "(,)", "(1 1)", "(x,)", "((1,),)", "(1",
        "('1',)", "(9223372036854775808,)", "(1L,)"})
    refusal(file_of(header_of("|u1", shape), "x"));
}

TEST(NpyDamage, ShapeThatOverflows) {
  refusal(file_of(header_of("|u1", "(4294967296, 4294967296)"), ""));
  refusal(file_of(header_of("<f8", "(2305843009213693953,)"), "12345678"));
  refusal(file_of(header_of("|u1", "(4294967296, 4294967296, 0)", "True"), ""));
}

TEST(NpyDamage, TooManyDimensions) {
  std::string shape = "(1";
  for (int i = 0; i < 64; ++i) shape += ", 1";
  expect_mentions(refusal(file_of(header_of("|u1", shape + ")"), "x")), "64 dimensions");
}

TEST(NpyDamage, BooleanThatIsNeitherZeroNorOne) {
  expect_mentions(refusal(file_of(header_of("|b1", "(2,)"), "\1\2")), "element 1 is 2");
}

TEST(WriteNpy, PadsTheHeaderSoThatTheDataStartOnAMultipleOf64) {
  const TemporaryFolder folder;
  const std::vector<float> values = {1, 2};
  write_npy(folder / "a.npy", array_view("", {2}, values));
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  header.resize(128 - 10 - 1, ' ');
  EXPECT_EQ(read_text(folder / "a.npy", 1000),
            file_of(header + "\n", "\0\0\x80\x3f\0\0\0\x40"s));
}

TEST(WriteNpy, RefusesWhatNumpyHasNot) {
  const TemporaryFolder folder;
  const std::vector<BFloat16> values(2);
  EXPECT_THROW(write_npy(folder / "a.npy", array_view("", {2}, values)), Unsupported);
  const std::vector<float> floats(2);
  EXPECT_THROW(write_npy(folder / "a.npy", array_view("", {3}, floats)), InvalidArgument);
  EXPECT_EQ(folder.count(), 0);
}

RC_GTEST_PROP(WriteNpy, ReadsBackEqual, (const std::vector<std::int32_t>& values)) {
  const TemporaryFolder folder;
  const auto count = static_cast<std::int64_t>(values.size());
  for (const Shape& shape : {Shape{count}, Shape{1, count, 1}}) {
    write_npy(folder / "a.npy", array_view("", shape, values));
    const Npy array = read_npy(folder / "a.npy");
    RC_ASSERT(array.shape() == shape);
    RC_ASSERT(array.as<std::int32_t>() == values);
  }
}

TEST(ReadNpy, NamesTheFileInEveryMessage) {
  const TemporaryFolder folder;
  atomic_write(folder / "a.npy", "x");
  expect_mentions(message_of([&] { read_npy(folder / "a.npy"); }), (folder / "a.npy").string());
  const std::vector<float> floats(2);
  write_npy(folder / "a.npy", array_view("", {2}, floats));
  const Npy array = read_npy(folder / "a.npy");
  const std::string message = message_of([&] { (void)array.as<double>(); });
  expect_mentions(message, (folder / "a.npy").string());
  expect_mentions(message, "f64");
}

}  // namespace
}  // namespace attn::files
