// Slopes of dual numbers are those of finite differences, and select loses the other side.

#include "attn/core/dual.hpp"

#include <gtest/gtest.h>

#include "support/tolerance.hpp"

namespace attn {
namespace {

/// The slope of f at x is its central difference.
template <class F>
void expect_slope(const F& f, const char* name) {
  for (const double x : {-1.7, -0.3, 0.2, 0.9, 2.4}) {
    const Dual<double> result = f(Dual<double>(x, 1.0));
    const double h = test::kDifferenceStep;
    const double want =
        (f(Dual<double>(x + h, 0.0)).value - f(Dual<double>(x - h, 0.0)).value) / (2 * h);
    EXPECT_TRUE(test::close(result.slope, want, test::kDifferenceTolerance))
        << name << " at " << x;
  }
}

TEST(Dual, SlopesAreThoseOfDifferences) {
  using D = Dual<double>;
  expect_slope([](D x) { return -x + x * x - 3.0f * x; }, "polynomial");
  expect_slope([](D x) { return x / (x * x + 1.0f); }, "quotient");
  expect_slope([](D x) { return 2.0f / (x * x + 1.0f) + (x / 2.0f - 1.0f); }, "constants");
  expect_slope([](D x) { return exp(x); }, "exp");
  expect_slope([](D x) { return log(x * x + 1.0f); }, "log");
  expect_slope([](D x) { return tanh(x); }, "tanh");
  expect_slope([](D x) { return sqrt(x * x + 1.0f); }, "sqrt");
  expect_slope([](D x) { return sigmoid(x); }, "sigmoid");
  expect_slope([](D x) { return abs(x); }, "abs");
  expect_slope([](D x) { return floor(x); }, "floor");
  expect_slope([](D x) { return min(x, 0.5) + max(x, x * x); }, "min and max");
  expect_slope([](D x) { return select(x > 0.0, x * x, x); }, "select");
}

TEST(Dual, SelectLosesTheOtherSideEvenIfItIsNoNumber) {
  const Dual<double> nothing(NAN, NAN);
  const Dual<double> kept = select(true, Dual<double>(1.0, 2.0), nothing);
  EXPECT_EQ(kept.value, 1.0);
  EXPECT_EQ(kept.slope, 2.0);
}

TEST(Dual, WholeNumbersAreConstants) {
  const auto three = real<Dual<double>>(3);
  EXPECT_EQ(three.value, 3.0);
  EXPECT_EQ(three.slope, 0.0);
}

}  // namespace
}  // namespace attn
