#include "attn/tensor/ops/loss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn {
namespace {

using test::expect_close;
using test::expect_gradients;
using test::expect_same_in_float;
using test::random_ids;
using test::random_tensor;
using test::Tensors;

Tensor ids(const std::vector<std::int64_t>& values) {
  return Tensor::from(values, {static_cast<std::int64_t>(values.size())});
}

/// The definition: the mean of -sum_j q_j log p_j with q = (1 - s) [target] + s / classes.
double by_hand(const Tensor& logits, const std::vector<std::int64_t>& targets,
               const CrossEntropyOptions& options) {
  const std::vector<double> logs = log_softmax(logits.to(DType::f64)).to_vector<double>();
  const auto classes = static_cast<std::size_t>(logits.size(-1));
  double total = 0.0;
  int count = 0;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    if (targets[row] == options.ignore_index) continue;
    ++count;
    for (std::size_t j = 0; j < classes; ++j) {
      const double hit = static_cast<std::int64_t>(j) == targets[row] ? 1.0 : 0.0;
      const double wanted =
          (1.0 - options.smoothing) * hit + options.smoothing / static_cast<double>(classes);
      total -= wanted * logs[row * classes + j];
    }
  }
  return count == 0 ? 0.0 : total / count;
}

TEST(CrossEntropy, OfEqualLogitsIsTheLogarithmOfTheClasses) {
  for (const DType dtype : {DType::f32, DType::f64})
    EXPECT_NEAR(cross_entropy(Tensor::full({3, 7}, 2.5, dtype), ids({0, 3, 6})).item(),
                std::log(7.0), test::kFloat);
}

TEST(CrossEntropy, IsItsDefinition) {
  const Tensor logits = random_tensor("logits", {6, 45}, -8.0, 8.0);
  const std::vector<std::int64_t> targets{0, 44, 7, -1, 7, 20};
  for (const double smoothing : {0.0, 0.1, 1.0}) {
    const CrossEntropyOptions options{.smoothing = smoothing};
    EXPECT_NEAR(cross_entropy(logits, ids(targets), options).item(),
                by_hand(logits, targets, options), test::kDoubleSum);
    EXPECT_NEAR(cross_entropy(logits.to(DType::f32), ids(targets), options).item(),
                by_hand(logits, targets, options), test::kFloatSum);
  }
}

TEST(CrossEntropy, GradientsAreThoseOfDifferences) {
  for (const double smoothing : {0.0, 0.2})
    for (const std::int64_t ignored : {-1, 2}) {
      const CrossEntropyOptions options{.smoothing = smoothing, .ignore_index = ignored};
      const auto f = [&](const Tensors& in) {
        return Tensors{cross_entropy(in[0], in[1], options)};
      };
      const Tensors inputs{random_tensor("logits", {2, 4, 19}, -3.0, 3.0),
                           random_ids("targets", {2, 4}, 0, 18)};
      expect_gradients(f, inputs);
      expect_same_in_float(f, inputs);
    }
}

TEST(CrossEntropy, OfLongRowsIsTheSameInFloat) {
  // Several chunks of a row, with the largest in the last one.
  Tensor logits = random_tensor("logits", {3, 5001}, -12.0, 6.0);
  logits.mutable_data<double>()[5000] = 11.0;
  const auto f = [](const Tensors& in) { return Tensors{cross_entropy(in[0], in[1])}; };
  expect_same_in_float(f, {logits, ids({17, 2048, 5000})});
}

TEST(CrossEntropy, DoesNotReadWhatIsIgnored) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    std::vector<double> values(2 * 9, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < 9; ++i) values[i] = 0.25;
    Tensor logits = Tensor::from(values, {2, 9}).to(dtype).set_requires_grad();
    const Tensor loss = cross_entropy(logits, ids({4, -1}));
    EXPECT_NEAR(loss.item(), std::log(9.0), test::kFloat);
    loss.backward();
    std::vector<double> want(2 * 9, 0.0);
    for (std::size_t i = 0; i < 9; ++i) want[i] = 1.0 / 9 - (i == 4 ? 1.0 : 0.0);
    expect_close(logits.grad(), Tensor::from(want, {2, 9}), 1e-6);
  }
}

TEST(CrossEntropy, IsZeroWhenNothingCounts) {
  Tensor logits = random_tensor("logits", {2, 3}).set_requires_grad();
  const Tensor loss = cross_entropy(logits, ids({-1, -1}));
  EXPECT_EQ(loss.item(), 0.0);
  loss.backward();
  expect_close(logits.grad(), Tensor::zeros({2, 3}), 0.0);
  Tensor none = Tensor::zeros({0, 3}).set_requires_grad();
  const Tensor empty = cross_entropy(none, ids({}));
  EXPECT_EQ(empty.item(), 0.0);
  empty.backward();
}

TEST(CrossEntropy, StaysFiniteForHugeLogits) {
  Tensor logits =
      Tensor::from(std::vector<float>{5000.0f, -5000.0f, 0.0f}, {1, 3}).set_requires_grad();
  const Tensor loss = cross_entropy(logits, ids({1}));
  EXPECT_FLOAT_EQ(static_cast<float>(loss.item()), 10000.0f);
  loss.backward();
  expect_close(logits.grad(), Tensor::from(std::vector<float>{1.0f, -1.0f, 0.0f}, {1, 3}),
               1e-6);
}

TEST(CrossEntropy, ReadsAnyStridesAndStoresHalfPrecision) {
  const auto f = [](const Tensors& in) {
    return Tensors{cross_entropy(in[0].transpose(0, 1), in[1])};
  };
  expect_gradients(f, {random_tensor("logits", {5, 3}), ids({4, 0, 2})});
  const Tensor logits = random_tensor("logits", {3, 5}).to(DType::bf16);
  EXPECT_NEAR(cross_entropy(logits, ids({4, 0, 2})).item(),
              cross_entropy(logits.to(DType::f64), ids({4, 0, 2})).item(),
              4 * test::tolerance(DType::bf16, 5));
}

TEST(CrossEntropy, NamesTheTargetThatIsNoClass) {
  const Tensor logits = Tensor::zeros({2, 3});
  for (const std::int64_t bad : {-2, 3}) {
    try {
      cross_entropy(logits, ids({0, bad}));
      FAIL() << "target " << bad << " was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("target " + std::to_string(bad)),
                std::string::npos)
          << error.what();
    }
  }
  EXPECT_THROW(cross_entropy(logits, ids({0})), InvalidArgument);
  EXPECT_THROW(cross_entropy(logits, Tensor::zeros({2})), InvalidArgument);
  EXPECT_THROW(cross_entropy(logits, ids({0, 0}), {.smoothing = 1.5}), InvalidArgument);
  EXPECT_THROW(cross_entropy(Tensor::zeros({}), ids({0})), InvalidArgument);
}

TEST(MeanSquaredError, IsTheMeanOfSquares) {
  const Tensor a = Tensor::from(std::vector<float>{1, 2, 3, 4}, {2, 2});
  const Tensor b = Tensor::from(std::vector<float>{1, 0, 0, 8}, {2, 2});
  EXPECT_FLOAT_EQ(static_cast<float>(mean_squared_error(a, b).item()), 29.0f / 4.0f);
}

TEST(MeanSquaredError, GradientsAreThoseOfDifferences) {
  const auto f = [](const Tensors& in) { return Tensors{mean_squared_error(in[0], in[1])}; };
  expect_gradients(f, {random_tensor("a", {3, 4}), random_tensor("b", {3, 4})});
  EXPECT_THROW(mean_squared_error(Tensor::zeros({2}), Tensor::zeros({1})), InvalidArgument);
}

}  // namespace
}  // namespace attn
