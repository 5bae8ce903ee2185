// Convolutions equal plain loops in double on every instruction set and for any threads.

#include "attn/gemm/conv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/kernels/target.hpp"
#include "gemm/cpu/unfold_table.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn::gemm {
namespace {

std::size_t count_of(std::int64_t a, std::int64_t b, const std::array<std::int64_t, 2>& size) {
  return static_cast<std::size_t>(a * b * size[0] * size[1]);
}

template <class T>
struct Numbers {
  explicit Numbers(const ConvShape& shape) {
    test::Random random("conv");
    const auto draw = [&](std::size_t count) {
      const std::vector<float> drawn = random.numbers<float>(count);
      return std::vector<T>(drawn.begin(), drawn.end());
    };
    x = draw(count_of(shape.batch, shape.in, shape.size));
    weight = draw(count_of(shape.out, shape.in, shape.kernel));
    bias = draw(static_cast<std::size_t>(shape.out));
    grad = draw(count_of(shape.batch, shape.out, shape.out_size()));
    y.resize(grad.size());
    dx.resize(x.size());
    d_weight.resize(weight.size());
    d_bias.resize(bias.size());
    conv_forward(shape, x.data(), weight.data(), bias.data(), y.data());
    conv_backward_data(shape, grad.data(), weight.data(), dx.data());
    conv_backward_weights(shape, x.data(), grad.data(), d_weight.data(), d_bias.data());
  }

  std::vector<T> x, weight, bias, grad, y, dx, d_weight, d_bias;
};

void expect_same(const std::vector<float>& got, const std::vector<double>& want, double within,
                 const char* what) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_TRUE(test::close(double{got[i]}, want[i], within)) << what << " " << i;
}

void expect_like(const Numbers<float>& got, const Numbers<double>& want) {
  const auto length = static_cast<int>(want.grad.size() + want.weight.size());
  const double within = test::tolerance(DType::f32, length);
  expect_same(got.y, want.y, within, "y");
  expect_same(got.dx, want.dx, within, "dx");
  expect_same(got.d_weight, want.d_weight, within, "d_weight");
  expect_same(got.d_bias, want.d_bias, within, "d_bias");
}

void expect_floats_like_doubles(const ConvShape& shape) {
  expect_like(Numbers<float>(shape), Numbers<double>(shape));
}

std::vector<ConvShape> shapes() {
  return {
      {.batch = 1, .in = 1, .out = 1, .size = {1, 1}, .kernel = {1, 1}},
      {.batch = 3, .in = 3, .out = 5, .size = {9, 7}, .kernel = {3, 2}},
      {.batch = 2,
       .in = 16,
       .out = 8,
       .size = {8, 8},
       .kernel = {3, 3},
       .stride = {2, 2},
       .pad_before = {1, 1},
       .pad_after = {1, 1}},
      {.batch = 2,
       .in = 17,
       .out = 9,
       .size = {1, 30},
       .kernel = {1, 3},
       .pad_before = {0, 4},
       .dilation = {1, 2}},
      {.batch = 4,
       .in = 2,
       .out = 3,
       .size = {5, 6},
       .kernel = {2, 3},
       .stride = {1, 2},
       .pad_before = {0, 2},
       .pad_after = {1, 0},
       .dilation = {2, 1}},
      // A kernel that sees nothing but zeros at the borders.
      {.batch = 1,
       .in = 2,
       .out = 2,
       .size = {2, 2},
       .kernel = {3, 3},
       .pad_before = {4, 4},
       .pad_after = {4, 4}},
      // More places than are unfolded at once, in rows and in one row.
      {.batch = 2,
       .in = 3,
       .out = 13,
       .size = {40, 17},
       .kernel = {3, 3},
       .stride = {1, 2},
       .pad_before = {1, 1},
       .pad_after = {1, 1}},
      {.batch = 2, .in = 5, .out = 4, .size = {1, 700}, .kernel = {1, 4}, .pad_before = {0, 3}},
      // As pictures are read.
      {.batch = 9,
       .in = 1,
       .out = 16,
       .size = {28, 28},
       .kernel = {5, 5},
       .stride = {2, 2},
       .pad_before = {2, 2},
       .pad_after = {2, 2}},
      // Several pieces, the last of them smaller.
      {.batch = 8,
       .in = 32,
       .out = 32,
       .size = {12, 12},
       .kernel = {3, 3},
       .pad_before = {1, 1},
       .pad_after = {1, 1}},
  };
}

TEST(Conv, FloatsAreLikeDoubles) {
  int number = 0;
  for (const ConvShape& shape : shapes()) {
    SCOPED_TRACE("shape " + std::to_string(number++));
    expect_floats_like_doubles(shape);
  }
}

TEST(Conv, TransposesOfEachOtherKeepTheInnerProduct) {
  // <conv(x), g> = <x, conv_backward_data(g)> = <weight, conv_backward_weights(x, g)>.
  for (const ConvShape& shape : shapes()) {
    Numbers<double> numbers(shape);
    conv_forward<double>(shape, numbers.x.data(), numbers.weight.data(), nullptr,
                         numbers.y.data());
    const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
      double sum = 0.0;
      for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
      return sum;
    };
    const double want = dot(numbers.y, numbers.grad);
    EXPECT_TRUE(test::close(dot(numbers.x, numbers.dx), want, 1e-10));
    EXPECT_TRUE(test::close(dot(numbers.weight, numbers.d_weight), want, 1e-10));
  }
}

TEST(Conv, EmptyShapesGiveTheBiasOrNothing) {
  for (const auto& [batch, in, out] :
       std::vector<std::array<std::int64_t, 3>>{{0, 2, 3}, {2, 0, 3}, {2, 2, 0}}) {
    const ConvShape shape{
        .batch = batch, .in = in, .out = out, .size = {4, 4}, .kernel = {2, 2}};
    const Numbers<float> numbers(shape);
    for (std::size_t i = 0; in == 0 && i < numbers.y.size(); ++i)
      EXPECT_EQ(numbers.y[i], numbers.bias[i / 9 % 3]);
    for (std::size_t i = 0; batch == 0 && i < numbers.d_weight.size(); ++i)
      EXPECT_EQ(numbers.d_weight[i], 0.0f);
  }
}

class ConvOn : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    if (!cpu::available(GetParam())) GTEST_SKIP() << "this machine has no such instructions";
  }
};

TEST_P(ConvOn, EveryInstructionSetIsLikeDoubles) {
  int number = 0;
  for (const ConvShape& shape : shapes()) {
    SCOPED_TRACE("shape " + std::to_string(number++));
    const Numbers<double> want(shape);
    Numbers<float> got(shape);
    conv_forward_on(GetParam(), shape, got.x.data(), got.weight.data(), got.bias.data(),
                    got.y.data());
    conv_backward_data_on(GetParam(), shape, got.grad.data(), got.weight.data(), got.dx.data());
    conv_backward_weights_on(GetParam(), shape, got.x.data(), got.grad.data(),
                             got.d_weight.data(), got.d_bias.data());
    expect_like(got, want);
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, ConvOn, testing::ValuesIn(cpu::kBuiltTargets),
                         [](const auto& set) { return std::string(name_of(set.param)); });

TEST(Conv, ThreadsChangeNoBit) {
  const int before = ThreadPool::default_threads();
  for (const ConvShape& shape : shapes()) {
    ThreadPool::set_default_threads(1);
    const Numbers<float> one(shape);
    ThreadPool::set_default_threads(3);
    const Numbers<float> three(shape);
    EXPECT_EQ(one.y, three.y);
    EXPECT_EQ(one.dx, three.dx);
    EXPECT_EQ(one.d_weight, three.d_weight);
    EXPECT_EQ(one.d_bias, three.d_bias);
  }
  ThreadPool::set_default_threads(before);
}

TEST(Conv, AnImageIsTheSameAloneAndInABatch) {
  for (const ConvShape& shape : shapes()) {
    const Numbers<float> all(shape);
    ConvShape alone = shape;
    alone.batch = 1;
    const std::size_t x = all.x.size() / static_cast<std::size_t>(shape.batch);
    const std::size_t y = all.y.size() / static_cast<std::size_t>(shape.batch);
    for (std::size_t b = 0; b < static_cast<std::size_t>(shape.batch); ++b) {
      std::vector<float> one(y);
      conv_forward(alone, all.x.data() + b * x, all.weight.data(), all.bias.data(), one.data());
      EXPECT_TRUE(std::equal(one.begin(), one.end(), all.y.data() + b * y));
      std::vector<float> dx(x);
      conv_backward_data(alone, all.grad.data() + b * y, all.weight.data(), dx.data());
      EXPECT_TRUE(std::equal(dx.begin(), dx.end(), all.dx.data() + b * x));
    }
  }
}

TEST(Conv, RefusesShapesThatAreNone) {
  const float number = 0.0f;
  float result = 0.0f;
  ConvShape shape{.batch = 1, .in = 1, .out = 1};
  shape.stride = {0, 1};
  EXPECT_THROW(conv_forward(shape, &number, &number, &number, &result), InvalidArgument);
  shape.stride = {1, 1};
  shape.pad_before = {-1, 0};
  EXPECT_THROW(conv_forward(shape, &number, &number, &number, &result), InvalidArgument);
}

}  // namespace
}  // namespace attn::gemm
