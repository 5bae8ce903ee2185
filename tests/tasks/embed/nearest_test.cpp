// The nearest vectors are the same, in however many turns they are looked at.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/embed/sentence_encoder.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {
namespace {

Tensor rows_of(const std::vector<float>& values) {
  return Tensor::from(values, {std::ssize(values) / 2, 2});
}

std::vector<std::int64_t> places(const std::vector<Match>& matches) {
  std::vector<std::int64_t> result;
  result.reserve(matches.size());
  for (const Match& match : matches) result.push_back(match.place);
  return result;
}

TEST(Nearest, TurnsDoNotChangeTheMatches) {
  const std::vector<float> values{1, 0, 0, 1, 0.6f, 0.8f, 0.8f, 0.6f, -1, 0, 1, 0, 0, -1};
  const Tensor queries = rows_of({1, 0, 0, 1});
  Nearest whole(queries, 3);
  whole.add(rows_of(values));
  EXPECT_EQ(places(whole.matches()[0]), (std::vector<std::int64_t>{0, 5, 3}))
      << "equal scores: the earlier first";
  EXPECT_EQ(places(whole.matches()[1]), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_FLOAT_EQ(whole.matches()[1][1].score, 0.8f);
  Nearest turns(queries, 3);
  for (std::size_t i = 0; i < values.size(); i += 2)
    turns.add(rows_of({values[i], values[i + 1]}));
  for (std::size_t q = 0; q < 2; ++q)
    EXPECT_EQ(places(turns.matches()[q]), places(whole.matches()[q]));
}

TEST(Nearest, FewerVectorsThanAskedForAreAllThereIs) {
  Nearest nearest(rows_of({1, 0}), 10);
  EXPECT_TRUE(nearest.matches()[0].empty());
  nearest.add(rows_of({0, 1, 1, 0}));
  EXPECT_EQ(places(nearest.matches()[0]), (std::vector<std::int64_t>{1, 0}));
}

TEST(Nearest, SizesThatDoNotFitAreErrors) {
  EXPECT_THROW(Nearest(rows_of({1, 0}), 0), InvalidArgument);
  Nearest nearest(rows_of({1, 0}), 1);
  EXPECT_THROW(nearest.add(Tensor::zeros({2, 3})), InvalidArgument);
}

}  // namespace
}  // namespace attn::tasks
