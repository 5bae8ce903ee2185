#include "attn/nn/optimiser.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/schedule.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"

namespace attn::nn {
namespace {

class Point : public Module {
 public:
  explicit Point(std::vector<float> at)
      : x(add("x", Tensor::from(at, {static_cast<std::int64_t>(at.size())}))) {}
  /// Squared distance from (1, 1, ...).
  Tensor loss() const { return sum(square(x - 1.0)); }
  Tensor x;
};

template <class O>
double run(O optimiser, Point& point, double rate, int steps) {
  for (int i = 0; i < steps; ++i) {
    optimiser.zero_grad();
    point.loss().backward();
    optimiser.step(rate);
  }
  return point.loss().item();
}

TEST(Optimiser, EachFindsTheMinimum) {
  Point a({3.0f, -2.0f});
  EXPECT_LT(run(Sgd(a), a, 0.1, 100), 1e-6);
  Point b({3.0f, -2.0f});
  EXPECT_LT(run(Sgd(b, {.momentum = 0.9}), b, 0.02, 300), 1e-6);
  Point c({3.0f, -2.0f});
  EXPECT_LT(run(Adam(c), c, 0.1, 500), 1e-6);
}

TEST(Optimiser, TheFirstStepOfAdamIsTheRate) {
  Point point({3.0f, -2.0f});
  run(Adam(point), point, 0.5, 1);
  EXPECT_NEAR(point.x.to_vector<float>()[0], 2.5, test::kFloatSum);
  EXPECT_NEAR(point.x.to_vector<float>()[1], -1.5, test::kFloatSum);
}

TEST(Optimiser, DecoupledDecayShrinksWithoutAGradientScale) {
  Point point({1.0f, 1.0f});
  Adam adam = adam_w(point, 0.1);
  point.loss().backward();
  adam.step(0.5);
  EXPECT_NEAR(point.x.to_vector<float>()[0], 0.95, test::kFloatSum);
}

TEST(Optimiser, AdamInFloatIsAdamInDouble) {
  Point single({3.0f, -2.0f, 0.5f, 7.0f, 1.5f, -4.0f, 0.1f, 2.0f, 9.0f});
  Point exact(single.x.to_vector<float>());
  exact.to(DType::f64);
  single.x.set_grad(Tensor::full({9}, 0.3));
  exact.x.set_grad(Tensor::full({9}, 0.3, DType::f64));
  Adam a(single, {.weight_decay = 0.01});
  Adam b(exact, {.weight_decay = 0.01});
  for (int i = 0; i < 5; ++i) {
    a.step(0.1);
    b.step(0.1);
  }
  for (std::size_t i = 0; i < 9; ++i)
    EXPECT_NEAR(single.x.to_vector<float>()[i], exact.x.to_vector<double>()[i],
                test::kFloatSum);
}

TEST(Optimiser, ClippingKeepsTheDirection) {
  Point point({0.0f, 0.0f});
  point.x.set_grad(Tensor::from(std::vector<float>{3.0f, 4.0f}, {2}));
  EXPECT_NEAR(clip_gradients(point, 1.0), 5.0, test::kFloat);
  EXPECT_NEAR(point.x.grad().to_vector<float>()[0], 0.6, test::kFloatSum);
  EXPECT_NEAR(clip_gradients(point, 10.0), 1.0, test::kFloatSum);
}

TEST(Optimiser, MastersTakeStepsThatTheirRoundingHides) {
  Point point({1.0f, -2.0f, 3.3f});
  Adam adam(point);
  adam.keep_masters(DType::bf16);
  EXPECT_EQ(point.x.dtype(), DType::bf16);
  const Tensor master = adam.numbers()[0].tensor;
  const std::vector<float> before = master.to_vector<float>();
  EXPECT_EQ(before, (std::vector<float>{1.0f, -2.0f, 3.3f})) << "not rounded";
  for (int step = 0; step < 5; ++step) {
    point.x.set_grad(Tensor::full({3}, 1.0, DType::bf16));
    clip_gradients(point, 1e-2);
    adam.step(1e-5);
  }
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(before[i] - master.to_vector<float>()[i], 5e-5, test::kFloat);
  EXPECT_EQ(point.x.to(DType::f32).to_vector<float>(),
            master.to(DType::bf16).to(DType::f32).to_vector<float>());
  EXPECT_TRUE(find_tensor(adam.state(), "x.master").same_as(master));
  EXPECT_THROW(adam.keep_masters(DType::bf16), InvalidArgument) << "they are there";
  EXPECT_THROW(Adam(point).keep_masters(DType::bf16), InvalidArgument) << "not f32";
}

TEST(Schedule, HasTheShapesOfThePapers) {
  EXPECT_EQ(constant_rate(0.5)(77), 0.5);
  EXPECT_DOUBLE_EQ(step_rate(1.0, 0.1, 10)(25), 0.01);
  const Schedule cosine = cosine_rate(1.0, 110, 10);
  EXPECT_DOUBLE_EQ(cosine(4), 0.5);
  EXPECT_DOUBLE_EQ(cosine(10), 1.0);
  EXPECT_NEAR(cosine(60), 0.5, test::kDoubleSum);
  EXPECT_NEAR(cosine(500), 0.0, test::kDoubleSum);
  const Schedule noam = inverse_square_root_rate(2.0, 100);
  EXPECT_DOUBLE_EQ(noam(99), 2.0);
  EXPECT_DOUBLE_EQ(noam(399), 1.0);
  EXPECT_LT(noam(10), noam(50));
}

}  // namespace
}  // namespace attn::nn
