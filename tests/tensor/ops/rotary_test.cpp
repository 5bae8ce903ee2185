#include "attn/tensor/ops/rotary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn::test {
namespace {

/// The formula, row by row: x [batch, heads, positions, channels].
Tensor turned(const Tensor& x, const std::vector<std::int64_t>& positions, std::int64_t dim,
              RotaryPairs pairs, double base = 10000.0) {
  const Tensor out = x.clone();
  const std::int64_t rows = x.size(0) * x.size(1) * x.size(2);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t b = row / (x.size(1) * x.size(2));
    const std::int64_t t = row % x.size(2);
    const auto place = static_cast<std::size_t>(
        static_cast<std::int64_t>(positions.size()) == x.size(2) ? t : b * x.size(2) + t);
    for (std::int64_t i = 0; i < dim / 2; ++i) {
      const double angle =
          static_cast<double>(positions[place]) *
          std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(dim));
      const bool halves = pairs == RotaryPairs::halves;
      const std::int64_t first = row * x.size(3) + (halves ? i : 2 * i);
      const std::int64_t second = row * x.size(3) + (halves ? i + dim / 2 : 2 * i + 1);
      const double u = x.data<double>()[first];
      const double w = x.data<double>()[second];
      out.mutable_data<double>()[first] = u * std::cos(angle) - w * std::sin(angle);
      out.mutable_data<double>()[second] = u * std::sin(angle) + w * std::cos(angle);
    }
  }
  return out;
}

TEST(Rotary, TurnsPairsByTheirPosition) {
  const Tensor x = random_tensor("x", {2, 2, 3, 6});
  for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::interleaved}) {
    for (const std::int64_t dim : {std::int64_t{6}, std::int64_t{4}, std::int64_t{0}}) {
      const RotaryOptions options{.base = 100.0, .rotary_dim = dim, .pairs = pairs};
      expect_close(rotary(x, 5, options), turned(x, {5, 6, 7}, dim, pairs, 100.0), 1e-12);
      const std::vector<std::int64_t> each{4, 0, 9, 1, 1, 1000};
      expect_close(rotary(x, Tensor::from(each, {2, 3}), options),
                   turned(x, each, dim, pairs, 100.0), 1e-12);
    }
  }
  expect_close(rotary(x), turned(x, {0, 1, 2}, 6, RotaryPairs::halves), 1e-12);
}

TEST(Rotary, TheGradientIsTheInverseTurn) {
  const Tensor positions = Tensor::from(std::vector<std::int64_t>{3, 0, 7}, {3});
  for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::interleaved}) {
    const auto run = [&](const Tensors& t) -> Tensors {
      return {rotary(t[0], positions, {.rotary_dim = 4, .pairs = pairs})};
    };
    expect_gradients(run, {random_tensor("x", {2, 2, 3, 5})});
    expect_gradients(run, {random_tensor("x", {2, 3, 5})});
    expect_same_in_float(run, {random_tensor("x", {2, 2, 3, 5})});
  }
}

TEST(Rotary, WithoutHeadsAndInViewsTheNumbersAreTheSame) {
  const Tensor x = random_tensor("x", {2, 3, 2, 6});  // [batch, positions, heads, channels]
  const Tensor view = x.transpose(1, 2);
  const Tensor whole = rotary(view.contiguous(), 2);
  expect_close(rotary(view, 2), whole, 0.0);
  EXPECT_TRUE(rotary(view, 2).transpose(1, 2).is_contiguous());
  expect_close(rotary(x.select(2, 1), 2), whole.select(1, 1), 0.0);
}

TEST(Rotary, DotProductsSeeDistancesAlone) {
  const Tensor q = random_tensor("q", {1, 1, 1, 8});
  const Tensor k = random_tensor("k", {1, 1, 1, 8});
  const auto score = [&](std::int64_t i, std::int64_t j) {
    return matmul(rotary(q, i), rotary(k, j).transpose(2, 3)).item();
  };
  EXPECT_NEAR(score(3, 1), score(503, 501), test::kDoubleScore);
}

TEST(Rotary, OneTableServesManyTensors) {
  const Tensor positions = Tensor::arange(3);
  const RotaryTable table = rotary_table(positions, {.rotary_dim = 4}, DType::f64);
  EXPECT_EQ(table.cos.text(), "f64[1, 3, 2]");
  const Tensor x = random_tensor("x", {2, 5, 3, 4});
  expect_close(rotary(x, table), rotary(x), 0.0);
}

TEST(Rotary, HalfTypesTurnInFloat) {
  const Tensor x = random_tensor("x", {1, 2, 3, 4}, -1.0, 1.0, DType::bf16);
  const Tensor got = rotary(x, 9);
  EXPECT_EQ(got.dtype(), DType::bf16);
  expect_close(got, rotary(x.to(DType::f64), 9), tolerance(DType::bf16));
}

TEST(Rotary, ZeroExtentsAndMisuse) {
  EXPECT_EQ(rotary(Tensor::zeros({0, 2, 3, 4})).numel(), 0);
  EXPECT_EQ(rotary(Tensor::zeros({2, 2, 0, 4})).numel(), 0);
  const Tensor x = Tensor::zeros({2, 3, 4});
  EXPECT_THROW(rotary(Tensor()), InvalidArgument);
  EXPECT_THROW(rotary(Tensor::zeros({3, 4})), InvalidArgument);
  EXPECT_THROW(rotary(x, 0, {.rotary_dim = 3}), InvalidArgument);
  EXPECT_THROW(rotary(x, 0, {.rotary_dim = 6}), InvalidArgument);
  EXPECT_THROW(rotary(x, 0, {.base = 0.0}), InvalidArgument);
  EXPECT_THROW(rotary(x, Tensor::arange(2)), InvalidArgument);
  EXPECT_THROW(rotary(x, Tensor::zeros({3})), InvalidArgument);
  EXPECT_THROW(rotary_table(Tensor::arange(2), {}), InvalidArgument);
}

}  // namespace
}  // namespace attn::test
