// Every kind of map is read back equal, and contradictions are named with their path.

#include "attn/maps/map.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "maps/support/examples.hpp"
#include "support/random.hpp"

namespace attn::maps {
namespace {

std::string complaint(const std::string& json) {
  try {
    (void)parse_map(json, "request");
  } catch (const FileError& error) {
    return error.what();
  }
  return "(accepted)";
}

/// `json` with one part of it replaced.
std::string changed(std::string json, const std::string& part, const std::string& by) {
  const std::size_t at = json.find(part);
  EXPECT_NE(at, std::string::npos) << part << " in " << json;
  return json.replace(at, part.size(), by);
}

void expect_says(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << '"' << message << "\" lacks " << part;
}

TEST(Map, EveryKindIsReadBackEqual) {
  for (const Map& map : every_example())
    EXPECT_EQ(parse_map(to_json(map)), map) << to_json(map);
  for (const Map& map : every_empty()) EXPECT_EQ(parse_map(to_json(map)), map) << to_json(map);
}

TEST(Map, EveryFloatIsReadBackToItsLastBit) {
  test::Random random("floats");
  Alignment map;
  map.rows.assign(100, "r");
  map.columns.assign(1000, "c");
  map.weights = {100, 1000, {}};
  for (int i = 0; i < 100000; ++i) {
    // Any exponent at or below that of 1, any mantissa.
    const std::uint32_t bits = static_cast<std::uint32_t>(random.whole(0, 0x3f800000));
    float value = 0.0f;
    std::memcpy(&value, &bits, sizeof(value));
    map.weights.values.push_back(value);
  }
  const Map back = parse_map(to_json(map));
  EXPECT_EQ(std::get<Alignment>(back).weights, map.weights);
}

TEST(Map, FloatsTakeFewDigits) {
  EXPECT_NE(to_json(alignment_example()).find("[0.1,0.7,0.1,0.1]"), std::string::npos);
}

TEST(Map, WhatOthersWriteIsRead) {
  const Map map = parse_map(
      " {\"kind\": \"alignment\", \"attn_map\": 1, \"rows\": [\"a\"], \"columns\": [\"b\"],\n"
      "  \"weights\": [[1]], \"extra\": {\"ignored\": [true]}}");
  const auto& alignment = std::get<Alignment>(map);
  EXPECT_EQ(alignment.weights.at(0, 0), 1.0f);
  EXPECT_EQ(alignment.row_title, "");
}

TEST(Map, SizesThatDisagreeAreNamedWithTheirPlace) {
  const std::string good = to_json(alignment_example());
  expect_says(complaint(changed(good, "[0.1,0.7,0.1,0.1]", "[0.1,0.7,0.1]")),
              {"request: weights[0]", "3 numbers in a row", "accepted: 4"});
  expect_says(complaint(changed(good, "[0.1,0.7,0.1,0.1],", "")),
              {"request: weights", "2 rows", "accepted: 3"});
  expect_says(complaint(changed(to_json(heads_example()), "[0.5,0.5]", "[1]")),
              {"maps[2].weights[0]", "accepted: 2"});
  expect_says(complaint(changed(to_json(curve_example()), "[1958.25,315.7]", "[1958.25]")),
              {"points[0]", "[x, y]"});
  expect_says(complaint(changed(to_json(curve_example()), "[315,316.5]", "[315]")),
              {"lines[0]", "2 numbers x and 1 numbers y"});
  expect_says(complaint(changed(to_json(bars_example()), "[24.5,-1]", "[24.5]")),
              {"series[0].values", "one a group"});
  expect_says(complaint(changed(to_json(image_example()), "\"width\":3", "\"width\":4")),
              {"pixels", "6 bytes", "accepted: 8"});
  expect_says(complaint(changed(to_json(image_example()), "\"rows\":2", "\"rows\":3")),
              {"steps[0].grid.weights", "accepted: 6"});
}

TEST(Map, NumbersThatAreNoneAreRefusedWithTheirPlace) {
  const std::string good = to_json(alignment_example());
  expect_says(complaint(changed(good, "0.7", "1.7")), {"weights[0][1]", "1.7", "0 to 1"});
  expect_says(complaint(changed(good, "0.7", "-0.7")), {"weights[0][1]", "0 to 1"});
  expect_says(complaint(changed(good, "0.7", "null")), {"weights[0][1]", "a number"});
  expect_says(complaint(changed(good, "0.7", "\"0.7\"")), {"weights[0][1]", "a number"});
  EXPECT_NE(complaint(changed(good, "0.7", "NaN")), "(accepted)");
  EXPECT_NE(complaint(changed(good, "0.7", "1e999")), "(accepted)");
  expect_says(complaint(changed(to_json(training_example()), "2.5", "1e301")),
              {"series[0].y[0]", "1e+301"});
  expect_says(complaint(changed(to_json(document_example()), "0.9", "2")),
              {"sentences[0].words[0].weight", "0 to 1"});
}

TEST(Map, ArcsThatJoinNoWordsAreRefusedWithTheirPlace) {
  const std::string good = to_json(arcs_example());
  expect_says(complaint(changed(good, "\"head\":2", "\"head\":5")),
              {"arcs[0].head", "accepted: 0 to 4"});
  expect_says(complaint(changed(good, "\"dependent\":1", "\"dependent\":2")),
              {"arcs[0].dependent", "another word"});
  expect_says(complaint(changed(good, "\"dependent\":4", "\"dependent\":0")),
              {"arcs[3].dependent", "1 to 4"});
  expect_says(complaint(changed(good, "0.99", "1.99")), {"arcs[0].weight", "0 to 1"});
  expect_says(complaint(changed(good, "\"DET\",", "")), {"tags", "3 for 4 words"});
}

TEST(Map, WordsThatMeanNothingAreRefusedWithAList) {
  const std::string good = to_json(heads_example());
  expect_says(complaint(changed(good, "\"heads\"", "\"hats\"")),
              {"kind", "hats", "alignment, heads, curve"});
  expect_says(complaint(changed(good, "\"attn_map\":1", "\"attn_map\":2")), {"version 2"});
  expect_says(complaint(changed(good, "\"attn_map\"", "\"map\"")), {"attn_map"});
  expect_says(complaint(changed(good, "\"encoder\"", "\"codec\"")),
              {"maps[0].part", "codec", "\"cross\""});
  expect_says(complaint(changed(good, "\"layer\":2", "\"layer\":0")),
              {"maps[2].layer", "1 to"});
  expect_says(complaint(changed(to_json(training_example()), "\"right\"", "\"top\"")),
              {"series[1].axis", "\"left\" or \"right\""});
  expect_says(complaint("{}"), {"request: there is no \"attn_map\""});
  for (const char* text : {"", "[]", "7", "{}", "{\"attn_map\":1}", "null", "{\"attn_map\":1,"})
    EXPECT_NE(complaint(text), "(accepted)") << text;
}

TEST(Map, AbsurdSizesAreRefusedBeforeAnythingIsAllocated) {
  const std::string good = to_json(image_example());
  for (const char* size : {"99999999999", "-1", "1.5", "18446744073709551615"}) {
    EXPECT_NE(complaint(changed(good, "\"width\":3", std::string("\"width\":") + size)),
              "(accepted)");
    EXPECT_NE(complaint(changed(good, "\"rows\":2", std::string("\"rows\":") + size)),
              "(accepted)");
  }
  expect_says(complaint(changed(good, "\"channels\":1", "\"channels\":2")), {"channels"});
  expect_says(complaint(changed(good, "\"pixels\":\"", "\"pixels\":\"!")),
              {"pixels", "base64"});
}

TEST(Map, WhatCannotBeWrittenIsRefused) {
  Alignment map = alignment_example();
  map.weights.values[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW((void)to_json(map), InvalidArgument);
  map = alignment_example();
  map.rows[0] = "\xff";
  EXPECT_THROW((void)to_json(map), InvalidArgument);
  map = alignment_example();
  map.weights.values.pop_back();
  EXPECT_THROW((void)to_json(map), InvalidArgument);
  Curve curve = curve_example();
  curve.points[0].y = std::numeric_limits<double>::infinity();
  EXPECT_THROW((void)to_json(curve), InvalidArgument);
  Image image = image_example();
  image.pixels.pop_back();
  EXPECT_THROW((void)to_json(image), InvalidArgument);
}

}  // namespace
}  // namespace attn::maps
