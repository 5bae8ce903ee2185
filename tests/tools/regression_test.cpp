#include "tools/attn/regression.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "support/tolerance.hpp"
#include "tasks/scratch.hpp"

namespace attn::tools {
namespace {

Points wave(int count) {
  Points points;
  for (int i = 0; i < count; ++i) {
    const double x = 0.1 * i;
    points.x.push_back(1000.0 + x);
    points.y.push_back(300.0 + 5.0 * std::sin(x) + 0.5 * std::cos(7.0 * x));
  }
  return points;
}

double rmse(const Regression& result, const char* name) {
  for (const Prediction& method : result.methods)
    if (method.name == name) return method.rmse;
  return -1.0;
}

TEST(Regression, TheLearntWidthBeatsEveryBaseline) {
  const Regression result = run_regression(wave(300), {});
  for (const char* other : {"mean", "window", "neighbours", "kernel_fixed"})
    EXPECT_LT(rmse(result, "kernel_learnt"), rmse(result, other)) << other;
  EXPECT_LT(result.epochs.back().loss, result.epochs.front().loss);
}

TEST(Regression, WeightsOfEachHeldOutPointSumToOne) {
  const Regression result = run_regression(wave(60), {.epochs = 5});
  const std::size_t points = result.train.x.size();
  ASSERT_EQ(result.weights.size(), points * result.held_out.x.size());
  for (std::size_t i = 0; i < result.held_out.x.size(); ++i) {
    const auto row = result.weights.begin() + static_cast<std::ptrdiff_t>(i * points);
    EXPECT_NEAR(std::accumulate(row, row + static_cast<std::ptrdiff_t>(points), 0.0), 1.0,
                test::kFloatSum);
  }
}

TEST(Regression, TheSeedChoosesThePoints) {
  const Regression a = run_regression(wave(60), {.epochs = 2, .seed = 4});
  const Regression b = run_regression(wave(60), {.epochs = 2, .seed = 4});
  const Regression c = run_regression(wave(60), {.epochs = 2, .seed = 5});
  EXPECT_EQ(a.held_out.x, b.held_out.x);
  EXPECT_NE(a.held_out.x, c.held_out.x);
}

TEST(Regression, TooFewPointsOrOnePlaceAreRefused) {
  EXPECT_THROW((void)run_regression(wave(9), {}), InvalidArgument);
  Points still = wave(20);
  still.x.assign(20, 1.0);
  EXPECT_THROW((void)run_regression(still, {}), InvalidArgument);
  still.x.assign(20, 0.1);  // the mean of twenty is not exactly so
  EXPECT_THROW((void)run_regression(still, {}), InvalidArgument);
}

/// What is said of points; "" when they are accepted.
std::string complaint(const Points& points, const RegressionOptions& options = {.epochs = 2}) {
  return tasks::message_of<InvalidArgument>([&] { (void)run_regression(points, options); });
}

TEST(Regression, NumbersThatCannotBeComputedWithAreRefusedWithTheRangeAccepted) {
  for (const double number : {5.9e301, -1e308, std::nan("")}) {
    Points far = wave(20);
    far.x[7] = number;
    EXPECT_NE(complaint(far).find("1e+100"), std::string::npos) << complaint(far);
    Points high = wave(20);
    high.y[7] = number;
    EXPECT_NE(complaint(high).find("a value of y"), std::string::npos) << complaint(high);
  }
  Points near = wave(20);
  for (std::size_t i = 0; i < near.x.size(); ++i) near.x[i] = 1e-200 * static_cast<double>(i);
  EXPECT_NE(complaint(near).find("a range of"), std::string::npos) << complaint(near);
  Points edge = wave(20);
  for (double& x : edge.x) x *= 9e96;
  edge.y[7] = -1e100;
  EXPECT_EQ(complaint(edge), "");
}

TEST(Regression, OnePlaceFarFromTheOthersIsAccusedWhenItIsHeldOut) {
  std::size_t refused = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    Points points = wave(20);
    points.x[i] = 1e50;
    const std::string said = complaint(points);
    if (said.empty()) continue;
    EXPECT_NE(said.find("lies too far from the other points"), std::string::npos) << said;
    ++refused;
  }
  EXPECT_EQ(refused, 4u) << "a fifth of the points is held out";
}

TEST(Regression, WidthsAndRatesThatLeaveTheRangeAreRefused) {
  for (const double width : {1e-300, 1e300})
    EXPECT_NE(complaint(wave(20), {.epochs = 2, .width = width}).find("--width"),
              std::string::npos)
        << width;
  EXPECT_EQ(complaint(wave(20), {.epochs = 2, .width = 1e-6}), "");
  EXPECT_NE(complaint(wave(20), {.epochs = 20, .rate = 1e6}).find("--rate"), std::string::npos);
}

TEST(Regression, MorePointsThanCanBeWeighedAgainstEachOtherAreRefused) {
  const std::string said = complaint(wave(static_cast<int>(kMostPoints) + 1));
  EXPECT_NE(said.find("20001 points"), std::string::npos) << said;
}

TEST(Regression, TheNumberOfNeighboursIsTheBestWhenEachPointIsLeftOut) {
  const Regression result = run_regression(wave(60), {.epochs = 2});
  const Points& train = result.train;
  std::vector<double> errors;
  for (std::size_t k = 1; k <= 20; ++k) {
    double total = 0.0;
    for (std::size_t i = 0; i < train.x.size(); ++i) {
      std::vector<std::pair<double, double>> near;
      for (std::size_t j = 0; j < train.x.size(); ++j)
        if (j != i) near.emplace_back(std::fabs(train.x[j] - train.x[i]), train.y[j]);
      std::sort(near.begin(), near.end());
      double sum = 0.0;
      for (std::size_t j = 0; j < k; ++j) sum += near[j].second;
      total += std::pow(sum / static_cast<double>(k) - train.y[i], 2);
    }
    errors.push_back(total);
  }
  const auto best = std::min_element(errors.begin(), errors.end()) - errors.begin() + 1;
  EXPECT_EQ(result.methods.at(2).title,
            std::to_string(best) + " nearest neighbours (leave-one-out)");
}

}  // namespace
}  // namespace attn::tools
