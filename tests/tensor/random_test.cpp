#include "attn/tensor/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn {
namespace {

TEST(Random, SameSeedAndNameGiveTheSameNumbers) {
  Random a = Random(7).named("weights");
  Random b = Random(7).named("weights");
  EXPECT_EQ(uniform({100}, 0, 1, a).to_vector<float>(),
            uniform({100}, 0, 1, b).to_vector<float>());
  Random other = Random(7).named("dropout");
  EXPECT_NE(uniform({100}, 0, 1, a).to_vector<float>(),
            uniform({100}, 0, 1, other).to_vector<float>());
}

TEST(Random, GoesOnWhereItStopped) {
  Random whole(3);
  (void)whole.next();
  (void)whole.next();
  Random resumed = Random::at(whole.key(), whole.drawn());
  EXPECT_EQ(whole.next(), resumed.next());
}

TEST(Random, MomentsAreThoseOfTheDistributions) {
  Random random(1);
  const Tensor flat = uniform({100'000}, -1.0, 3.0, random);
  EXPECT_NEAR(mean(flat).item(), 1.0, 0.02);
  EXPECT_NEAR(mean(square(flat - 1.0)).item(), 16.0 / 12.0, 0.02);
  const Tensor bell = normal({100'001}, 2.0, 0.5, random);
  EXPECT_NEAR(mean(bell).item(), 2.0, 0.01);
  EXPECT_NEAR(mean(square(bell - 2.0)).item(), 0.25, 0.01);
}

TEST(Random, PermutationsHoldEveryNumberOnce) {
  Random random(5);
  std::vector<std::int64_t> order = permutation(1000, random).to_vector<std::int64_t>();
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (std::int64_t i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(Random, DropoutKeepsTheMeanAndItsOwnGradient) {
  Random random(2);
  Tensor x = Tensor::full({100'000}, 1.0).set_requires_grad();
  const Tensor y = dropout(x, 0.25, random);
  EXPECT_NEAR(mean(y).item(), 1.0, 0.01);
  sum(y).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), y.to_vector<float>());
  EXPECT_TRUE(dropout(x, 0.0, random).same_as(x));
  EXPECT_THROW((void)dropout(x, 1.0, random), InvalidArgument);
}

}  // namespace
}  // namespace attn
