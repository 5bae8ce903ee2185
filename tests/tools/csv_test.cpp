#include "tools/attn/csv.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "support/tolerance.hpp"

namespace attn::tools {
namespace {

TEST(Csv, ReadsHeadersQuotesAndEveryLineEnd) {
  const Csv csv = parse_csv("\xef\xbb\xbfweek,\"sales, net\"\r\n1,\"2\"\"5\"\n\n2,7\n", "t");
  EXPECT_EQ(csv.names, (std::vector<std::string>{"week", "sales, net"}));
  EXPECT_EQ(csv.columns[1], (std::vector<std::string>{"2\"5", "7"}));
  EXPECT_EQ(csv.find("sales, net"), 1u);
  EXPECT_EQ(csv.find("2"), 1u);
}

TEST(Csv, ALineOfNumbersIsNoHeader) {
  const Csv csv = parse_csv("1;2.5\n3;4", "t");
  EXPECT_EQ(csv.rows(), 2u);
  EXPECT_EQ(csv.names[1], "2");
}

TEST(Csv, DamageIsNamed) {
  EXPECT_THROW((void)parse_csv("", "t"), FileError);
  EXPECT_THROW((void)parse_csv("a,b\n1,\"2\n3,4", "t"), FileError);
  try {
    (void)parse_csv("a,b\n1,2\n3\n", "points.csv");
    FAIL() << "nothing was thrown";
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("points.csv: line 3 has 1 fields"),
              std::string::npos)
        << error.what();
  }
  EXPECT_THROW((void)parse_csv("a,b\n", "t").find("c"), InvalidArgument);
}

TEST(Csv, NumbersAndDatesAreToldFromWords) {
  double number = 0.0;
  EXPECT_TRUE(number_of(" +1.5e3 ", number));
  EXPECT_EQ(number, 1500.0);
  EXPECT_TRUE(number_of("1958-07-01", number));
  EXPECT_NEAR(number, 1958.5, test::kDoubleScore);
  for (const char* word : {"", "nan", "inf", "12x", "1958-13-01", "2020/01/01"})
    EXPECT_FALSE(number_of(word, number)) << word;
}

}  // namespace
}  // namespace attn::tools
