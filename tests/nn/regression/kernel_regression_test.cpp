#include "attn/nn/mechanisms/regression/kernel_regression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/support/learns.hpp"
#include "support/tolerance.hpp"

namespace attn::nn {
namespace {

struct Points {
  Tensor x;
  Tensor y;  ///< 2 sin x and some noise
};

Points points(std::int64_t count) {
  Random random(5);
  const Tensor x = uniform({count}, 0.0, 5.0, random, DType::f64);
  const Tensor noise = normal({count}, 0.0, 0.1, random, DType::f64);
  std::vector<double> y = noise.to_vector<double>();
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += 2.0 * std::sin(x.data<double>()[i]);
  return {x, Tensor::from(y, {count})};
}

TEST(KernelRegression, LearnsAWidth) {
  const auto [x, y] = points(40);
  // Of 40 points, with noise of variance 0.01; the average alone is off by some 80.
  test::expect_learns(
      5.0,
      [&] {
        KernelRegression curve({.width = 1.0});
        return curve.fit(x, y, {.rate = 0.02, .epochs = 100}).back().loss;
      },
      [&] {
        KernelRegression flat({.width = 0.0});
        flat.keep(x, y);
        return flat.loss().item();
      });
}

TEST(KernelRegression, WeightsOfAPredictionSumToOne) {
  const auto [x, y] = points(7);
  KernelRegression curve({.width = 2.0});
  curve.keep(x, y);
  const Attended at = curve.predict(x.slice(0, 0, 3), Want::output | Want::weights);
  EXPECT_EQ(at.output.shape(), (Shape{3}));
  ASSERT_EQ(at.weights.shape(), (Shape{3, 7}));
  for (const double total : sum(at.weights, 1).to_vector<double>())
    EXPECT_NEAR(total, 1.0, test::kDoubleSum);
}

TEST(KernelRegression, APointAloneIsLeftOutCompletely) {
  KernelRegression curve;
  curve.keep(Tensor::full({1}, 2.0, DType::f64), Tensor::full({1}, 3.0, DType::f64));
  EXPECT_EQ(curve.loss().item(), 9.0);
  EXPECT_EQ(curve.predict(Tensor::full({1}, 7.0, DType::f64)).output.item(), 3.0);
}

TEST(KernelRegression, TakesPointsOfSeveralFeatures) {
  KernelRegression curve({.width = 100.0});
  curve.keep(Tensor::from(std::vector<float>{0, 0, 0, 1, 1, 1}, {3, 2}),
             Tensor::from(std::vector<float>{1, 2, 3}, {3}));
  const Tensor at = Tensor::from(std::vector<float>{0, 1}, {1, 2});
  EXPECT_FLOAT_EQ(static_cast<float>(curve.predict(at).output.item()), 2.0f);
}

TEST(KernelRegression, RefusesToPredictWithoutPoints) {
  const KernelRegression curve;
  EXPECT_THROW(curve.predict(Tensor::zeros({1})), InvalidArgument);
}

}  // namespace
}  // namespace attn::nn
