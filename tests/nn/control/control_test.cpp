// The KV cache, merging of states and forced attention against the whole computed at once.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/attention/kv_cache.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/control/forced_attention.hpp"
#include "attn/nn/mechanisms/control/kv_cache_equivalence.hpp"
#include "attn/nn/mechanisms/control/merge_states.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

Tensor some(const Shape& shape) {
  return uniform(shape, -1.0, 1.0, nn::random());
}

void expect_close(const Tensor& got, const Tensor& want) {
  ASSERT_TRUE(got.shape() == want.shape()) << got.text() << " " << want.text();
  const auto a = got.detach().to_vector<float>();
  const auto b = want.detach().to_vector<float>();
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], test::kFloatSum) << i;
}

TEST(KvCache, GivesTheSameNumbersInPlaceAndOnTheTape) {
  const Tensor q = some({2, 4, 40, 8});
  const Tensor k = some({2, 2, 45, 8});
  const Tensor v = some({2, 2, 45, 6});
  const Attended whole = nn::attend_in_chunks(q, k, v);
  const std::vector<std::int64_t> chunks{1, 20, 1, 18};
  expect_close(nn::attend_in_chunks(q, k, v, chunks).output, whole.output);
  const NoGrad off_the_tape;
  const Attended written = nn::attend_in_chunks(q, k, v, chunks);
  expect_close(written.output, whole.output);
  expect_close(written.log_sum_exp, whole.log_sum_exp);
}

TEST(KvCache, HeadsNeedNotBeAMultipleOfThoseOfTheKeys) {
  const Tensor q = some({1, 3, 4, 5});
  const Tensor k = some({1, 2, 6, 5});
  const Tensor v = some({1, 2, 6, 5});
  const Attended together = nn::attend_in_chunks(q, k, v, {3, 1});
  // Head h reads key head h * 2 / 3.
  for (std::int64_t head = 0; head < 3; ++head) {
    const std::int64_t read = head * 2 / 3;
    expect_close(together.output.slice(1, head, head + 1),
                 nn::attend_in_chunks(q.slice(1, head, head + 1), k.slice(1, read, read + 1),
                                      v.slice(1, read, read + 1))
                     .output);
  }
}

TEST(KvCache, GrowsPastItsCapacityAndKeepsWhatWasThere) {
  const NoGrad off_the_tape;
  const Tensor k = some({1, 2, 50, 3});
  const Tensor v = some({1, 2, 50, 5});
  nn::KvCache cache(4);
  for (std::int64_t at = 0; at < 50; ++at)
    cache.append(k.slice(2, at, at + 1), v.slice(2, at, at + 1));
  EXPECT_EQ(cache.length(), 50);
  expect_close(cache.keys(), k);
  expect_close(cache.values(), v);
}

TEST(KvCache, GoesFromInPlaceToTheTapeAndBack) {
  const Tensor k = some({1, 1, 6, 3});
  nn::KvCache cache;
  const auto append = [&](std::int64_t at) {
    cache.append(k.slice(2, at, at + 2), k.slice(2, at, at + 2));
  };
  {
    const NoGrad off_the_tape;
    append(0);
  }
  append(2);
  const NoGrad off_the_tape;
  append(4);
  expect_close(cache.keys(), k);
}

/// Rows change places, one is taken twice, and later there are fewer.
TEST(KvCache, GoesOnWithTheRowsThatAreSelected) {
  const NoGrad off_the_tape;
  const Tensor k = some({3, 2, 5, 4});
  nn::KvCache cache;
  nn::Ancestry ancestry(3);
  Tensor want = k.slice(2, 0, 0);
  const auto append = [&](std::int64_t at, std::int64_t rows) {
    const Tensor now = k.slice(0, 0, rows).slice(2, at, at + 1);
    cache.append(now, now);
    ancestry.append();
    want = concat({want, now}, 2);
  };
  const auto select = [&](const std::vector<std::int64_t>& rows) {
    cache.select(ancestry.select(rows));
    want = nn::select_rows(want, 0, Tensor::from(rows, {std::ssize(rows)}));
  };
  append(0, 3);
  append(1, 3);
  select({1, 0, 1});
  expect_close(cache.keys(), want);
  append(2, 3);
  select({2, 2, 0});
  append(3, 3);
  select({1, 2});
  append(4, 2);
  expect_close(cache.keys(), want);
  expect_close(cache.values(), want);
}

TEST(KvCache, RefusesWhatDoesNotFit) {
  nn::KvCache cache;
  cache.append(some({1, 2, 3, 4}), some({1, 2, 3, 4}));
  EXPECT_THROW(cache.append(some({1, 2, 1, 5}), some({1, 2, 1, 4})), InvalidArgument);
  EXPECT_THROW(cache.append(some({1, 2, 1, 4}), some({1, 2, 2, 4})), InvalidArgument);
  EXPECT_THROW(cache.append(some({2, 1, 4}), some({2, 1, 4})), InvalidArgument);
  EXPECT_EQ(cache.length(), 3);
  EXPECT_THROW(
      nn::attend_in_chunks(some({1, 1, 3, 2}), some({1, 1, 3, 2}), some({1, 1, 3, 2}), {1, 1}),
      InvalidArgument);
}

TEST(SplitAttention, MergesToTheWholeWhereverItIsCut) {
  const Tensor q = some({2, 2, 5, 4});
  const Tensor k = some({2, 2, 7, 4});
  const Tensor v = some({2, 2, 7, 3});
  const Attended whole = attend(q, k, v, spec::scaled_dot(), spec::causal(), spec::softmax(),
                                Want::output | Want::log_sum_exp);
  for (std::int64_t split = 0; split <= 7; ++split) {
    const nn::SplitAttended parts = nn::split_attention(q, k, v, split, nn::SplitMask::causal);
    expect_close(parts.whole.output, whole.output);
    expect_close(parts.whole.log_sum_exp, whole.log_sum_exp);
  }
  EXPECT_THROW(nn::split_attention(q, k, v, 8), InvalidArgument);
}

TEST(ForcedAttention, RefusesMoreThanTheWholeAndHalfARequest) {
  const Tensor scores = some({1, 1, 3});
  const Tensor values = some({1, 3, 2});
  const Tensor mask = Tensor::full({1, 1, 3}, 1.0, DType::boolean);
  const Tensor weight = Tensor::full({1, 1, 3}, 0.5);
  EXPECT_THROW(
      nn::forced_attention(scores, values, {.forced_mask = mask, .forced_weight = weight}),
      InvalidArgument);
  EXPECT_THROW(nn::forced_attention(scores, values, {.forced_mask = mask}), InvalidArgument);
  // Behind a mask forcing does nothing, so two halves are enough for all.
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{2}, {1});
  const Attended steered =
      nn::forced_attention(scores, values, {.forced_mask = mask, .forced_weight = weight},
                           spec::lengths(lengths), Want::output | Want::weights);
  EXPECT_EQ(steered.weights.to_vector<float>(), (std::vector<float>{0.5f, 0.5f, 0.0f}));
}

TEST(ForcedAttention, DoesNotReadWhatIsNotForcedOrForcedAway) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor scores = Tensor::from(std::vector<float>{nan, 0.0f, 0.0f}, {1, 1, 3});
  const Tensor mask = Tensor::zeros({1, 1, 3}, DType::boolean);
  mask.mutable_data<bool>()[0] = true;
  const Tensor weight = Tensor::from(std::vector<float>{0.5f, nan, nan}, {1, 1, 3});
  const Attended steered = nn::forced_attention(scores, some({1, 3, 2}),
                                                {.forced_mask = mask, .forced_weight = weight},
                                                {}, Want::output | Want::weights);
  EXPECT_EQ(steered.weights.to_vector<float>(), (std::vector<float>{0.5f, 0.25f, 0.25f}));
  EXPECT_TRUE(std::isfinite(steered.output.to_vector<float>()[0]));
}

}  // namespace
}  // namespace attn
