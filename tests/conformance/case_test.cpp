#include "tools/conformance/case.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"

namespace attn::conformance {
namespace {

TEST(Case, NumbersThatAreNotFiniteBecomeText) {
  EXPECT_EQ(quote_non_finite(R"({"a": -Infinity, "b": [NaN, Infinity]})"),
            R"({"a": "-Infinity", "b": ["NaN", "Infinity"]})");
  EXPECT_EQ(quote_non_finite(R"({"NaN \" Infinity": "-Infinity"})"),
            R"({"NaN \" Infinity": "-Infinity"})");
  EXPECT_EQ(quote_non_finite("\"\\"), "\"\\");
}

TEST(Case, NumberOfReadsThem) {
  const auto read = [](const std::string& text) {
    return number_of(files::parse_json(quote_non_finite(text), "test"), "test");
  };
  EXPECT_EQ(read("-Infinity"), -HUGE_VAL);
  EXPECT_EQ(read("Infinity"), HUGE_VAL);
  EXPECT_TRUE(std::isnan(read("NaN")));
  EXPECT_EQ(read("0.5"), 0.5);
  EXPECT_THROW(read("\"half\""), FileError);
}

}  // namespace
}  // namespace attn::conformance
