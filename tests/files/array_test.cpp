// Sizes of arrays never overflow, and bytes are viewed only where they are aligned.

// SPDX-License-Identifier: Apache-2.0

#include "attn/files/array.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "files/support.hpp"

namespace attn::files {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
using Shape = std::vector<std::int64_t>;

TEST(ByteCount, MultipliesAndTakesScalarsAndEmptyArrays) {
  EXPECT_EQ(byte_count(Shape{}, DType::f32), 4u);
  EXPECT_EQ(byte_count(Shape{2, 3}, DType::bf16), 12u);
  EXPECT_EQ(byte_count(Shape{2, 0, 3}, DType::f64), 0u);
  EXPECT_EQ(byte_count(Shape{kHuge}, DType::u8), static_cast<std::uint64_t>(kHuge));
}

TEST(ByteCount, HasNoneForOverflowWhereverTheZeroStands) {
  EXPECT_FALSE(byte_count(Shape{-1}, DType::u8));
  EXPECT_FALSE(byte_count(Shape{kHuge}, DType::i16));
  EXPECT_FALSE(byte_count(Shape{kHuge, kHuge}, DType::u8));
  EXPECT_FALSE(byte_count(Shape{0, kHuge, kHuge}, DType::u8));
  EXPECT_FALSE(byte_count(Shape{kHuge, kHuge, 0}, DType::u8));
  EXPECT_FALSE(byte_count(Shape{0, -1}, DType::u8));
}

TEST(ArrayView, NamesValuesWithoutCopying) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const ArrayView view = array_view("w", {2, 3}, values);
  EXPECT_EQ(view.dtype, DType::f32);
  EXPECT_EQ(view.bytes.data(), reinterpret_cast<const std::byte*>(values.data()));
  EXPECT_EQ(copy_as<float>(view.bytes), values);
  EXPECT_NO_THROW(validate(view, "here"));
}

TEST(ArrayView, ValidateRefusesWhatNoFileCouldHold) {
  const std::vector<float> values = {1, 2};
  EXPECT_THROW(validate(array_view("w", {3}, values), "here"), InvalidArgument);
  EXPECT_THROW(validate(array_view("w", {-2}, values), "here"), InvalidArgument);
  EXPECT_THROW(validate(array_view("w", {kHuge, kHuge}, values), "here"), InvalidArgument);
  EXPECT_THROW(validate(array_view("w", Shape(65, 1), values), "here"), InvalidArgument);
  ArrayView flags = {"b", DType::boolean, {2}, bytes_of("\x01\x02")};
  expect_mentions(message_of<InvalidArgument>([&] { validate(flags, "here"); }), "0 or 1");
}

TEST(ArrayView, UnalignedBytesAreCopiedButNotViewed) {
  alignas(8) const char raw[] = "?\x01\x00\x00\x00\x02\x00\x00\x00";
  const auto bytes = bytes_of({raw + 1, 8});
  EXPECT_EQ(copy_as<std::int32_t>(bytes), (std::vector<std::int32_t>{1, 2}));
  expect_mentions(message_of([&] { view_as<std::int32_t>(bytes, "here"); }), "multiple of 4");
}

}  // namespace
}  // namespace attn::files
