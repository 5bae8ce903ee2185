// What conformance cases cannot show of pooling.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/mechanisms/pooling/masked_softmax.hpp"
#include "attn/nn/mechanisms/pooling/plain_pooling.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor lengths(const std::vector<std::int64_t>& values) {
  return Tensor::from(values, {static_cast<std::int64_t>(values.size())});
}

/// [2, 3, 1]: 1, 2 | NaN and NaN | NaN, NaN.
Tensor padded_values() {
  Tensor values = Tensor::from(std::vector<double>{1, 2, kNan, kNan, kNan, kNan}, {2, 3, 1});
  return values.set_requires_grad();
}

TEST(AveragePooling, NotANumberInPaddingStaysThere) {
  const Tensor values = padded_values();
  const Tensor output = average_pooling(values, lengths({2, 0})).output;
  EXPECT_EQ(output.to_vector<double>(), (std::vector<double>{1.5, 0}));
  sum(output).backward();
  EXPECT_EQ(values.grad().to_vector<double>(), (std::vector<double>{0.5, 0.5, 0, 0, 0, 0}));
}

TEST(MaxPooling, NotANumberInPaddingStaysThere) {
  const Tensor values = padded_values();
  const Maximum largest = max_pooling(values, lengths({2, 0}));
  EXPECT_EQ(largest.values.to_vector<double>(), (std::vector<double>{2, 0}));
  EXPECT_EQ(largest.indices.to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, -1}));
  sum(largest.values).backward();
  EXPECT_EQ(values.grad().to_vector<double>(), (std::vector<double>{0, 1, 0, 0, 0, 0}));
}

TEST(MaxPooling, OfNothingIsZeroFromNowhere) {
  const Maximum largest = max_pooling(Tensor::zeros({2, 0, 1}), lengths({0, 0}));
  EXPECT_EQ(largest.values.to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(largest.indices.to_vector<std::int64_t>(), (std::vector<std::int64_t>{-1, -1}));
}

TEST(MaxPooling, GradientGoesToTheFirstOfEquals) {
  Tensor values = Tensor::full({1, 3, 1}, 2.0, DType::f64);
  values.set_requires_grad();
  sum(max_pooling(values).values).backward();
  EXPECT_EQ(values.grad().to_vector<double>(), (std::vector<double>{1, 0, 0}));
}

TEST(MaskedSoftmax, FillingGivesPaddingItsWeightBack) {
  const Tensor x = Tensor::zeros({1, 1, 4}, DType::f64);
  const Tensor none = lengths({0});
  EXPECT_EQ(masked_softmax(x, none).to_vector<double>(), (std::vector<double>(4, 0.0)));
  EXPECT_EQ(masked_softmax(x, none, {.fill = -1e6}).to_vector<double>(),
            (std::vector<double>(4, 0.25)));
}

TEST(Pooling, RefusesLengthsOfAnotherShape) {
  const Tensor x = Tensor::zeros({2, 3, 4});
  EXPECT_THROW(masked_softmax(x, lengths({1, 2, 3})), InvalidArgument);
  EXPECT_THROW(masked_softmax(x, lengths({1, 5})), InvalidArgument);
  EXPECT_THROW(max_pooling(x, lengths({1})), InvalidArgument);
  EXPECT_THROW(average_pooling(x, Tensor::zeros({2, 3}, DType::i64)), InvalidArgument);
}

}  // namespace
}  // namespace attn::nn
