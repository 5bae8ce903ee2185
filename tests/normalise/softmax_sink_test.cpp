// A sink is one more key without a value, and has a gradient.

#include "attn/normalise/softmax_sink.hpp"

#include <gtest/gtest.h>

#include "support/normaliser_laws.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

using normalise::SoftmaxSink;

class SoftmaxSinkTest : public testing::TestWithParam<double> {
 protected:
  double sink = GetParam();
  float sink_in_float = static_cast<float>(GetParam());
  Table table_f64 = table(&sink, {1, 1, 1, 1});
  Table table_f32 = table(&sink_in_float, {1, 1, 1, 1});
  Params<double> p{&table_f64};
  Params<float> p_in_float{&table_f32};
};

TEST_P(SoftmaxSinkTest, StreamsInAnyChunksAndLeavesTheRestToTheSink) {
  test::expect_streams(SoftmaxSink{},
                       sink == -INFINITY ? test::Total::one : test::Total::below_one, p);
}
TEST_P(SoftmaxSinkTest, EmptyRowsAreZero) {
  test::expect_empty_rows_are_zero(SoftmaxSink{}, p);
}
TEST_P(SoftmaxSinkTest, HugeScoresStayFinite) {
  test::expect_huge_scores_stay_finite(SoftmaxSink{}, p_in_float);
}
TEST_P(SoftmaxSinkTest, GradientMatchesDifferences) {
  test::expect_gradient_matches_differences(SoftmaxSink{}, p);
}

INSTANTIATE_TEST_SUITE_P(Sinks, SoftmaxSinkTest, testing::Values(0.0, 1.5, -2.0, -INFINITY));

TEST(SoftmaxSink, IsOneMoreKeyWithoutAValue) {
  const double sink = std::log(3.0);
  const Table t = table(&sink, {1, 1, 1, 1});
  const std::vector<double> w =
      test::weights_of(SoftmaxSink{}, {std::log(1.0), std::log(4.0)}, Params<double>{&t});
  EXPECT_NEAR(w[0], 0.125, test::kDouble);
  EXPECT_NEAR(w[1], 0.5, test::kDouble);
}

TEST(SoftmaxSink, GradientOfTheSinkMatchesDifferences) {
  test::Random random("SoftmaxSink");
  const std::vector<double> s = random.numbers(6, -2.0, 2.0), d_weights = random.numbers(6);
  double sink = 0.3;
  double d_sink = 0.0;
  const Table t = table(&sink, {1, 1, 1, 1});
  const TableGrad g = table_grad(&d_sink, {1, 1, 1, 1});
  const Params<double> p{&t};
  // The pooled value of d_weights is delta, the sum of weight * d weight.
  const auto loss = [&] { return test::run_row(SoftmaxSink{}, s, d_weights, 2, p).pooled; };
  const double stat = test::run_row(SoftmaxSink{}, s, d_weights, 2, p).stat;
  SoftmaxSink{}.backward_row(stat, loss(), p, ParamGrads<double>{&g});
  sink = 0.3 + test::kDifferenceStep;
  const double above = loss();
  sink = 0.3 - test::kDifferenceStep;
  const double below = loss();
  EXPECT_TRUE(test::close(d_sink, (above - below) / (2 * test::kDifferenceStep),
                          test::kDifferenceTolerance));
}

}  // namespace
}  // namespace attn
