#include "tasks/debian/records.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

namespace attn::tasks {
namespace {

TEST(RecordReader, FieldsAndTheirContinuedLinesComeBack) {
  const std::string text =
      "Package: one\nTag: a,\n b,\n c\nDescription-en: first\n text\n .\n  * item\n\n\n"
      "Package:two\nDescription-en:\n";
  RecordReader reader(text);
  Record record;
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(record.field("package"), "one");
  EXPECT_EQ(record.field("Tag"), "a,");
  EXPECT_EQ(record.body("Tag"), " b,\n c");
  EXPECT_EQ(record.field("Description-en"), "first");
  EXPECT_EQ(record.body("Description-en"), " text\n .\n  * item");
  EXPECT_EQ(record.field("Source"), std::nullopt);
  EXPECT_EQ(record.body("Source"), "");
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(record.field("Package"), "two");
  EXPECT_EQ(record.field("Description-en"), "");
  EXPECT_FALSE(reader.next(record));
}

TEST(RecordReader, OddInputIsReadWithoutHarm) {
  Record record;
  for (const std::string_view text :
       {"", "\n", "\r\n\r\n", " only\n continued\n", "no colon"}) {
    RecordReader reader(text);
    EXPECT_FALSE(reader.next(record)) << text;
  }
  RecordReader reader("Package: a\r\nDescription-en: b\r\n c\r\n\r\nPackage: d");
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(record.field("Package"), "a");
  EXPECT_EQ(record.field("Description-en"), "b");
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(record.field("Package"), "d");
  EXPECT_FALSE(reader.next(record));
}

}  // namespace
}  // namespace attn::tasks
