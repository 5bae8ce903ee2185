// JSON from outside is checked: encoding, depth, size, repeated keys, with line and column.

// SPDX-License-Identifier: Apache-2.0

#include "attn/files/json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "files/support.hpp"

namespace attn::files {
namespace {

using nlohmann::json;

std::string refusal(std::string_view text) {
  const std::string message = message_of([&] { parse_json(text, "here"); });
  EXPECT_TRUE(message.starts_with("here: ")) << message;
  return message;
}

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

TEST(ParseJson, AgreesWithTheLibraryOnEveryKindOfValue) {
  for (const char* text :
       {"null", "true", "-1", "18446744073709551615", "0.5e-3", R"("a\u00e9\ud83d\udd0e")",
        "[]", "{}", R"([1,[2,{"a":[{}],"b":null}],3,[]])",
        R"({"a":{"b":{"c":[1,2]}},"d":[[],[[]]]})", " \n\t[ 1 , 2 ] "})
    EXPECT_EQ(parse_json(text, "here"), json::parse(text)) << text;
}

TEST(ParseJson, GivesLineAndColumnOfAnError) {
  expect_mentions(refusal("{\n  \"a\": 1,\n  \"b\" 2\n}"), "line 3, column 7");
}

TEST(ParseJson, RefusesWhatIsNotOneValue) {
  for (const char* text : {"", " ", "[1,]", "{\"a\":}", "[1] 2", "nul", "01", "1e999", "'a'",
                           "// c\n1", "[1", "{\"a\":1", "\"\\ud800\"", "\"\n\"", "NaN"})
    refusal(text);
}

TEST(ParseJson, RefusesTextThatIsNotUtf8) {
  expect_mentions(refusal("\"\xff\""), "UTF-8");
  refusal("\"\xc0\x80\"");
  refusal("\xfe\xff");
}

TEST(ParseJson, RefusesAZeroByteAndWhatItWouldHide) {
  expect_mentions(refusal(std::string_view("{}\0garbage", 10)), "zero byte");
}

TEST(ParseJson, RefusesAKeyTwice) {
  expect_mentions(refusal(R"({"a":1,"b":2,"a":3})"), "\"a\" a second time");
  refusal(R"([{"a":{"b":1,"b":1}}])");
  EXPECT_NO_THROW(parse_json(R"([{"a":1},{"a":{"a":1}}])", "here"));
}

TEST(ParseJson, RefusesDepthBeyondTheLimit) {
  EXPECT_NO_THROW(parse_json(nested(64), "here"));
  expect_mentions(refusal(nested(65)), "64 deep");
  refusal(nested(1'000'000));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  refusal(objects);
  EXPECT_THROW(parse_json("[[1]]", "here", {.max_depth = 1}), FileError);
}

TEST(ParseJson, RefusesTextBeyondTheLimit) {
  EXPECT_NO_THROW(parse_json("[1]", "here", {.max_bytes = 3}));
  EXPECT_THROW(parse_json("[1] ", "here", {.max_bytes = 3}), FileError);
}

TEST(ParseJson, ErrorsAreShortPrintableText) {
  const std::string message = refusal("[\"" + std::string(100'000, '\x1b'));
  EXPECT_LT(message.size(), 2000u);
  EXPECT_EQ(printable(message, 2000), message);
}

TEST(ReadJson, NamesTheFile) {
  const TemporaryFolder folder;
  atomic_write(folder / "a.json", "[1,");
  expect_mentions(message_of([&] { read_json(folder / "a.json"); }),
                  (folder / "a.json").string());
  EXPECT_THROW(read_json(folder / "none.json"), FileError);
  EXPECT_THROW(read_json(folder / "a.json", {.max_bytes = 2}), FileError);
}

TEST(WriteJson, RefusesWhatCouldNotBeReadBackAndKeepsTheOldFile) {
  const TemporaryFolder folder;
  const auto path = folder / "a.json";
  write_json(path, {{"old", true}});
  json deep;
  for (int i = 0; i < 65; ++i) deep = json::array({deep});
  const std::vector<json> bad = {json::array({std::numeric_limits<double>::quiet_NaN()}),
                                 {{"a", std::numeric_limits<double>::infinity()}},
                                 json("\xff"),
                                 {{"\xff", 1}},
                                 json::binary({1, 2}),
                                 json(json::value_t::discarded),
                                 deep};
  for (const json& value : bad) EXPECT_THROW(write_json(path, value), InvalidArgument);
  EXPECT_EQ(read_json(path), json({{"old", true}}));
  EXPECT_EQ(folder.count(), 1);
}

RC_GTEST_PROP(WriteJson, ReadsBackEqual,
              (const std::map<std::string, std::vector<std::int64_t>>& lists,
               const std::vector<double>& numbers)) {
  json value = {{"numbers", numbers}, {"lists", json::object()}};
  for (const auto& [key, list] : lists) value["lists"][is_utf8(key) ? key : "other"] = list;
  const TemporaryFolder folder;
  write_json(folder / "a.json", value);
  RC_ASSERT(read_json(folder / "a.json") == value);
}

TEST(JsonAccess, ChecksTheKind) {
  const json value = parse_json(
      R"({"int":3,"big":18446744073709551615,"half":0.5,"text":"x","yes":true,"list":[]})", "");
  EXPECT_EQ(to_int(member(value, "int", "w"), "w"), 3);
  EXPECT_EQ(to_double(member(value, "int", "w"), "w"), 3.0);
  EXPECT_EQ(to_double(member(value, "half", "w"), "w"), 0.5);
  EXPECT_EQ(to_text(member(value, "text", "w"), "w"), "x");
  EXPECT_TRUE(to_bool(member(value, "yes", "w"), "w"));
  for (const char* key : {"big", "half", "text", "yes", "list"})
    EXPECT_THROW(to_int(member(value, key, "w"), "w"), FileError) << key;
  EXPECT_THROW(to_double(value["text"], "w"), FileError);
  EXPECT_THROW(to_bool(value["int"], "w"), FileError);
  EXPECT_THROW(to_text(value["int"], "w"), FileError);
  expect_mentions(message_of([&] { member(value, "none", "w"); }), "\"none\"");
  EXPECT_THROW(member(value["list"], "a", "w"), FileError);
}

}  // namespace
}  // namespace attn::files
