#include "tools/attn/checks.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/say.hpp"

namespace attn::tools {
namespace {

/// What a check says of a value; "" when it takes it.
std::string said_of(const CLI::Validator& check, const std::string& value) {
  return check(value);
}

TEST(Checks, TakeWhatTheyNameAndNothingElse) {
  for (const char* value : {"0", "0.0", "-0", "1e3", "7"})
    EXPECT_EQ(said_of(at_least(0), value), "") << value;
  for (const char* value : {"1e-9", "1", "0x10"})
    EXPECT_EQ(said_of(above(0), value), "") << value;
  for (const char* value : {"0.1", "5", "3600"})
    EXPECT_EQ(said_of(between(0.1, 3600), value), "") << value;
  EXPECT_NE(said_of(at_least(0), "-1"), "");
  EXPECT_NE(said_of(above(0), "0"), "");
  EXPECT_NE(said_of(between(0.1, 3600), "0.09"), "");
  EXPECT_NE(said_of(between(0.1, 3600), "3601"), "");
}

TEST(Checks, RefuseWhatIsNoFiniteNumber) {
  for (const char* value :
       {"nan", "NaN", "-nan", "nan(1)", "inf", "-inf", "1e400", "", "abc", "1x", "1 2"}) {
    EXPECT_NE(said_of(at_least(-1e300), value), "") << value;
    EXPECT_NE(said_of(above(-1e300), value), "") << value;
    EXPECT_NE(said_of(between(-1e300, 1e300), value), "") << value;
  }
}

TEST(Checks, SayShortlyWhatIsAccepted) {
  EXPECT_EQ(said_of(at_least(0), "-1"), "it takes a number, 0 or more, not \"-1\"");
  EXPECT_EQ(said_of(above(0), "nan"), "it takes a number, above 0, not \"nan\"");
  EXPECT_EQ(said_of(between(1e-3, 1e6), "2e6"),
            "it takes a number, 0.001 to 1000000, not \"2e6\"");
  EXPECT_EQ(at_least(0).get_description(), "0 or more");
}

TEST(Checks, AreOnTheFlagsThatTakeNumbers) {
  const std::vector<std::vector<std::string>> wrong{
      {"train", "pronounce", "--out", "/no/such/folder", "--minutes", "nan"},
      {"train", "caption", "--out", "/no/such/folder", "--doubly", "nan"},
      {"eval", "pronounce", "--length-penalty", "nan"},
      {"eval", "pronounce", "--limit", "0"},
      {"serve", "--timeout", "nan"},
      {"serve", "--host", ""},
      {"pronounce", "cat", "--temperature", "nan"},
      {"pronounce", "cat", "--attention-temperature", "nan"},
      {"pronounce", "cat", "--seed", "-1"},
      {"gradcheck", "score_additive", "--tolerance", "nan"},
      {"gradcheck", "score_additive", "--seed", "-1"},
      {"data", "pronounce", "--samples", "-1"}};
  for (const auto& arguments : wrong) {
    const Said said = say(arguments);
    EXPECT_EQ(said.status, usage) << arguments[0] << " " << arguments.back();
    EXPECT_LT(said.err.size(), 200u) << said.err;
  }
  EXPECT_NE(say({"train", "--help"}).out.find("FLOAT:above 0"), std::string::npos);
}

}  // namespace
}  // namespace attn::tools
