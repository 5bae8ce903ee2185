#include "tools/attn/regression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <numeric>

#include "attn/core/error.hpp"

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
                1e-5);
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
}

}  // namespace
}  // namespace attn::tools
