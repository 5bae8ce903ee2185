// CSV files are read with quotes and any separator, and a ragged line is named.

#include "attn/files/csv.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "attn/core/error.hpp"

namespace attn::files {
namespace {

TEST(FilesCsv, QuotedFieldsHoldSeparatorsQuotesAndLineEnds) {
  const Csv csv = parse_csv("a,b\r\n\"1,\"\"x\"\"\",\"two\nlines\"\n\n3,4\n", "t");
  EXPECT_EQ(csv.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(csv.columns[0], (std::vector<std::string>{"1,\"x\"", "3"}));
  EXPECT_EQ(csv.columns[1], (std::vector<std::string>{"two\nlines", "4"}));
  EXPECT_EQ(csv.lines, (std::vector<std::size_t>{2, 5})) << "counted as an editor counts";
}

TEST(FilesCsv, ARaggedLineIsNamedBehindAFieldOfSeveralLines) {
  try {
    (void)parse_csv("a,b\n\"1\n2\n3\",x\nalone\n", "t.csv");
    FAIL() << "nothing was thrown";
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("t.csv: line 5 has 1 fields"), std::string::npos)
        << error.what();
  }
}

TEST(FilesCsv, TheSeparatorIsTheOneOfTheFirstLine) {
  EXPECT_EQ(csv_separator("a;b;c\n1,2;3,4;5\n"), ';');
  EXPECT_EQ(csv_separator("a\tb\n"), '\t');
  EXPECT_EQ(csv_separator("alone"), ',');
}

}  // namespace
}  // namespace attn::files
