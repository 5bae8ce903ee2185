// What conformance cases cannot show of positions.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/position/alibi.hpp"
#include "attn/nn/position/learned_position.hpp"
#include "attn/nn/position/relative_skew.hpp"
#include "attn/nn/position/rotary.hpp"
#include "attn/nn/position/sinusoidal_encoding.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"

namespace attn::nn {
namespace {

void expect_near(const Tensor& got, const Tensor& want) {
  const auto a = got.to_vector<double>();
  const auto b = want.to_vector<double>();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], test::kDoubleScore) << i;
}

TEST(SinusoidalTable, AnOffsetIsALaterPieceOfTheSameTable) {
  for (const std::int64_t dim : {1, 6, 7})
    expect_near(sinusoidal_table(3, dim, {.offset = 4}, DType::f64),
                sinusoidal_table(7, dim, {}, DType::f64).slice(0, 4, 7));
}

TEST(Rotate, ProductsSeeTheDistanceAlone) {
  Random random(1);
  const Tensor q = normal({1, 2, 4, 6}, 0.0, 1.0, random, DType::f64);
  const Tensor k = normal({1, 2, 4, 6}, 0.0, 1.0, random, DType::f64);
  const auto weights = [&](std::int64_t offset) {
    const Rotated turned = rotate(q, k, offset);
    return attend(turned.queries, turned.keys, {}, spec::scaled_dot(), {}, spec::softmax(),
                  Want::weights)
        .weights;
  };
  expect_near(weights(0), weights(100));
}

TEST(RelativeSkew, OneQueryAtATimeEqualsAllAtOnceAndFewerKeysAreEarlierOnes) {
  seed(3);
  RelativeSkew attention({.length = 7, .dim = 4, .heads = 2});
  attention.to(DType::f64);
  Random random(2);
  const Tensor q = normal({1, 2, 7, 4}, 0.0, 1.0, random, DType::f64);
  const Tensor k = normal({1, 2, 7, 4}, 0.0, 1.0, random, DType::f64);
  const Tensor v = normal({1, 2, 7, 3}, 0.0, 1.0, random, DType::f64);
  const Tensor all = attention.forward(q, k, v).attended.output;
  for (std::int64_t i = 0; i < 7; ++i)
    for (const std::int64_t first : {std::int64_t{0}, i / 2, i})
      expect_near(
          attention
              .forward(q.slice(2, first, i + 1), k.slice(2, 0, i + 1), v.slice(2, 0, i + 1))
              .attended.output,
          all.slice(2, first, i + 1));
  EXPECT_THROW(attention.forward(q, k.slice(2, 0, 3), v.slice(2, 0, 3)), InvalidArgument);
}

TEST(AlibiAttention, OneQueryAtATimeEqualsAllAtOnce) {
  Random random(2);
  const Tensor q = normal({1, 3, 5, 4}, 0.0, 1.0, random, DType::f64);
  const Tensor k = normal({1, 3, 5, 4}, 0.0, 1.0, random, DType::f64);
  const Tensor whole = alibi_attention(q, k, k, spec::causal()).output;
  for (std::int64_t i = 0; i < 5; ++i) {
    const Tensor seen = k.slice(2, 0, i + 1);
    expect_near(alibi_attention(q.slice(2, i, i + 1), seen, seen, spec::causal()).output,
                whole.slice(2, i, i + 1));
  }
}

TEST(LearnedPosition, RefusesToRunPastItsTable) {
  const LearnedPosition position({.max_positions = 4, .dim = 2});
  EXPECT_NO_THROW(position(Tensor::zeros({1, 3, 2}), 1));
  EXPECT_THROW(position(Tensor::zeros({1, 3, 2}), 2), InvalidArgument);
  EXPECT_THROW(position(Tensor::zeros({1, 3, 5})), InvalidArgument);
}

TEST(RelativeSkew, RefusesAnotherLength) {
  const RelativeSkew attention({.length = 4, .dim = 2});
  const Tensor longer = Tensor::zeros({1, 1, 5, 2});
  EXPECT_THROW(attention.forward(longer, longer, longer), InvalidArgument);
  // Distances to later keys are placed for one length alone.
  const RelativeSkew both({.length = 4, .dim = 2, .reach = Reach::both});
  const Tensor shorter = Tensor::zeros({1, 1, 3, 2});
  EXPECT_THROW(both.forward(shorter, shorter, shorter), InvalidArgument);
}

}  // namespace
}  // namespace attn::nn
