// Merged parts are the whole, empty parts change nothing, and gradients are differences.

#include "attn/pool/state.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

constexpr double kEmpty = -INFINITY;

/// softmax(s) . v over the keys [begin, end), one channel.
struct Part {
  double lse;
  double out;
};
Part attend(const std::vector<double>& s, const std::vector<double>& v, std::size_t begin,
            std::size_t end) {
  double sum = 0.0, out = 0.0;
  for (std::size_t k = begin; k < end; ++k) {
    sum += std::exp(s[k]);
    out += std::exp(s[k]) * v[k];
  }
  return begin == end ? Part{kEmpty, 0.0} : Part{std::log(sum), out / sum};
}

TEST(State, MergingPartsIsAttendingToTheWhole) {
  test::Random random("State");
  const std::vector<double> s = random.numbers(12, -3.0, 3.0), v = random.numbers(12);
  const Part whole = attend(s, v, 0, 12);
  for (std::size_t cut = 0; cut <= 12; ++cut) {
    const Part a = attend(s, v, 0, cut), b = attend(s, v, cut, 12);
    double out = 0.0;
    const double lse = pool::merge(a.lse, &a.out, b.lse, &b.out, 1, &out);
    EXPECT_TRUE(test::close(lse, whole.lse, test::tolerance(DType::f64, 12))) << "cut " << cut;
    EXPECT_TRUE(test::close(out, whole.out, test::tolerance(DType::f64, 12))) << "cut " << cut;
  }
}

TEST(State, AnEmptyPartChangesNothingWhateverItHolds) {
  const double out_a = 0.75, garbage = NAN;
  double out = 0.0;
  EXPECT_EQ(pool::merge(2.0, &out_a, kEmpty, &garbage, 1, &out), 2.0);
  EXPECT_EQ(out, 0.75);
  EXPECT_EQ(pool::merge(kEmpty, &garbage, 2.0, &out_a, 1, &out), 2.0);
  EXPECT_EQ(out, 0.75);
}

TEST(State, TwoEmptyPartsAreEmptyAndPassNoGradient) {
  const double zero = 0.0, d_out = 3.0;
  double out = 1.0, d_a = 1.0, d_b = 1.0;
  EXPECT_EQ(pool::merge(kEmpty, &zero, kEmpty, &zero, 1, &out), kEmpty);
  EXPECT_EQ(out, 0.0);
  const auto grad =
      pool::merge_backward(kEmpty, &zero, kEmpty, &zero, 1, &d_out, 2.0, &d_a, &d_b);
  EXPECT_EQ(grad.lse_a, 0.0);
  EXPECT_EQ(grad.lse_b, 0.0);
  EXPECT_EQ(d_a, 0.0);
  EXPECT_EQ(d_b, 0.0);
}

TEST(State, HugeLogSumExpsStayFinite) {
  const float a = 1.0f, b = 2.0f;
  float out = 0.0f;
  EXPECT_EQ(pool::merge(5000.0f, &a, -5000.0f, &b, 1, &out), 5000.0f);
  EXPECT_EQ(out, 1.0f);
}

TEST(State, BackwardMatchesDifferences) {
  test::Random random("State backward");
  constexpr int kChannels = 3;
  std::vector<double> a = random.numbers(kChannels), b = random.numbers(kChannels);
  const std::vector<double> d_out = random.numbers(kChannels);
  std::vector<double> lse{0.4, -0.3}, d_a(kChannels), d_b(kChannels);
  const double d_lse = 0.9;
  const auto loss = [&] {
    std::vector<double> out(kChannels);
    double sum = d_lse * pool::merge(lse[0], a.data(), lse[1], b.data(), kChannels, out.data());
    for (std::size_t c = 0; c < kChannels; ++c) sum += d_out[c] * out[c];
    return sum;
  };
  const auto grad = pool::merge_backward(lse[0], a.data(), lse[1], b.data(), kChannels,
                                         d_out.data(), d_lse, d_a.data(), d_b.data());
  const auto check = [&](double& x, double got) {
    const double kept = x;
    x = kept + test::kDifferenceStep;
    const double above = loss();
    x = kept - test::kDifferenceStep;
    const double below = loss();
    x = kept;
    EXPECT_TRUE(test::close(got, (above - below) / (2 * test::kDifferenceStep),
                            test::kDifferenceTolerance));
  };
  check(lse[0], grad.lse_a);
  check(lse[1], grad.lse_b);
  for (std::size_t c = 0; c < kChannels; ++c) {
    check(a[c], d_a[c]);
    check(b[c], d_b[c]);
  }
}

}  // namespace
}  // namespace attn
