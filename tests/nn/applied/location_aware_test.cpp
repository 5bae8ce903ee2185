#include "attn/nn/mechanisms/applied/location_aware.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/applied/rush_summariser_attention.hpp"
#include "attn/tensor/random.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

TEST(LocationAwareAttention, OneStepAfterTheOtherEqualsAllAtOnce) {
  const nn::LocationAwareAttention attention(
      {.encoder_dim = 3, .query_dim = 2, .hidden = 5, .channels = 2, .width = 5});
  const Tensor frames = uniform({2, 6, 3}, -1.0, 1.0, nn::random());
  const Tensor queries = uniform({2, 3, 2}, -1.0, 1.0, nn::random());
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{6, 3}, {2});
  const Attended all = attention.forward(frames, queries, lengths);
  const nn::LocationMemory memory = attention.memory(frames, lengths);
  Tensor previous = memory.weights;
  for (std::int64_t t = 0; t < 3; ++t) {
    previous = attention.step(memory, queries.select(1, t), previous).weights;
    const auto got = previous.to_vector<float>();
    const auto want = all.weights.select(1, t).to_vector<float>();
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], test::kFloat);
  }
}

TEST(LocationAwareAttention, RefusesAnEvenWidth) {
  EXPECT_THROW(nn::LocationAwareAttention(
                   {.encoder_dim = 3, .query_dim = 2, .hidden = 5, .channels = 2, .width = 4}),
               InvalidArgument);
}

TEST(RushAttention, RefusesToDivideByAReachOfZero) {
  EXPECT_THROW(nn::RushAttention({.source_words = 5,
                                  .source_dim = 3,
                                  .context_words = 5,
                                  .context_dim = 2,
                                  .context_length = 1,
                                  .reach = 0}),
               InvalidArgument);
}

}  // namespace
}  // namespace attn
