// The live examples: every position of every slider gives a map that pictures can be drawn of,
// and the numbers are the mechanism's.

#include "tools/serve/live.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "support/tolerance.hpp"

namespace attn::tools {
namespace {

using Rows = std::vector<std::vector<double>>;

nlohmann::json drawn(const std::string& name, const serve::Values& values = {}) {
  const serve::LiveExample* example = serve::find_live(name);
  if (example == nullptr) fail("there is no example ", name);
  return serve::live_map(*example, values);
}

Rows weights(const std::string& name, const serve::Values& values = {}) {
  return drawn(name, values).at("weights").get<Rows>();
}

double sum(const std::vector<double>& row) {
  double total = 0.0;
  for (const double weight : row) total += weight;
  return total;
}

TEST(Live, EveryExampleDrawsAMapWhereverItsSlidersAre) {
  EXPECT_GE(serve::live_examples().size(), 8u);
  for (const serve::LiveExample& example : serve::live_examples()) {
    EXPECT_FALSE(example.formula.empty()) << example.name;
    EXPECT_FALSE(example.sliders.empty()) << example.name;
    for (const double share : {0.0, 0.31, 1.0}) {
      serve::Values values;
      for (const serve::Slider& slider : example.sliders) {
        const double steps = std::round((slider.max - slider.min) * share / slider.step);
        values[slider.name] = std::min(slider.min + steps * slider.step, slider.max);
      }
      const nlohmann::json map = serve::live_map(example, values);
      EXPECT_EQ(map.at("kind"), example.kind == "curve" ? "curve" : "alignment");
      EXPECT_NO_THROW(maps::parse_map(map.dump())) << example.name << " at " << share;
    }
    EXPECT_NO_THROW(maps::parse_map(serve::live_map(example).dump())) << example.name;
  }
}

TEST(Live, ValuesOutsideASliderAreRefused) {
  EXPECT_THROW(drawn("temperature", {{"temperature", 0.0}}), InvalidArgument);
  EXPECT_THROW(drawn("temperature", {{"temperature", NAN}}), InvalidArgument);
  EXPECT_THROW(drawn("temperature", {{"heat", 1.0}}), InvalidArgument);
  EXPECT_EQ(serve::find_live("no such"), nullptr);
}

TEST(Live, KernelRegressionIsNadarayaAndWatsons) {
  const auto map = drawn("kernel_regression", {{"width", 2.0}, {"query", 9.0}});
  const auto points = map.at("points").get<std::vector<std::vector<double>>>();
  const auto shown = map.at("weights").at(0).get<std::vector<double>>();
  double total = 0.0;
  double pooled = 0.0;
  for (const auto& point : points) {
    const double z = (9.0 - point[0]) / 2.0;
    total += std::exp(-0.5 * z * z);
    pooled += std::exp(-0.5 * z * z) * point[1];
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double z = (9.0 - points[i][0]) / 2.0;
    EXPECT_NEAR(shown[i], std::exp(-0.5 * z * z) / total, test::kFloatSum);
  }
  const auto x = map.at("lines").at(0).at("x").get<std::vector<double>>();
  const auto y = map.at("lines").at(0).at("y").get<std::vector<double>>();
  const auto place = std::find(x.begin(), x.end(), 9.0) - x.begin();
  ASSERT_LT(static_cast<std::size_t>(place), x.size());
  EXPECT_NEAR(y[static_cast<std::size_t>(place)], pooled / total, test::kFloatModel);
}

TEST(Live, CausalAlignmentsDifferBehindACache) {
  const auto seen = [](const serve::Values& values) {
    std::vector<int> counts;
    for (const auto& row : weights("causal_mask", values)) {
      int count = 0;
      for (const double weight : row) count += weight > 0.0 ? 1 : 0;
      counts.push_back(count);
      EXPECT_NEAR(sum(row), 1.0, test::kFloatModel);
    }
    return counts;
  };
  EXPECT_EQ(seen({{"queries", 3}, {"alignment", 0}}), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(seen({{"queries", 3}, {"alignment", 1}}), (std::vector<int>{7, 8, 9}));
  EXPECT_EQ(seen({{"queries", 9}, {"alignment", 0}}), seen({{"queries", 9}, {"alignment", 1}}));
}

TEST(Live, SlidersDoWhatTheirMechanismSays) {
  EXPECT_GT(weights("temperature", {{"temperature", 0.1}})[7][1], 0.99);
  EXPECT_NEAR(weights("temperature", {{"temperature", 8.0}})[7][1], 1.0 / 9, 0.15);
  const Rows window = weights("sliding_window", {{"left", 1}, {"right", 0}});
  EXPECT_EQ(window[4][2], 0.0);
  EXPECT_GT(window[4][3], 0.0);
  EXPECT_EQ(window[4][5], 0.0);
  const Rows both = weights("sparsemax", {{"scale", 1.0}});
  for (const Rows::value_type& row : both) EXPECT_NEAR(sum(row), 1.0, test::kFloatModel);
  EXPECT_GT(both[0][3], 0.0);
  EXPECT_EQ(both[1][3], 0.0);
  EXPECT_LT(sum(weights("sink", {{"sink", 8}})[0]), 0.1);
  EXPECT_GT(sum(weights("sink", {{"sink", -6}})[0]), 0.99);
  EXPECT_LT(weights("alibi", {{"slope", 2}})[8][0], weights("alibi", {{"slope", 0}})[8][0]);
  EXPECT_LT(weights("soft_cap", {{"cap", 0.5}})[7][1],
            weights("soft_cap", {{"cap", 30}})[7][1]);
}

}  // namespace
}  // namespace attn::tools
