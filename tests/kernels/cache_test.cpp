#include "attn/kernels/cache.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/view.hpp"

namespace attn {
namespace {

constexpr int kBatch = 2, kHeads = 3, kRows = 5, kChannels = 4;

/// A cache of zeros and an update 1, 2, 3, ...
struct Problem {
  explicit Problem(std::int64_t added)
      : cache(kBatch * kHeads * kRows * kChannels),
        update(static_cast<std::size_t>(kBatch * kHeads * added * kChannels)),
        args{.cache = packed<float>(cache.data(), kBatch, kHeads, kRows, kChannels),
             .update = packed<const float>(update.data(), kBatch, kHeads, added, kChannels)} {
    std::iota(update.begin(), update.end(), 1.0f);
  }
  Problem(const Problem&) = delete;

  std::vector<float> cache, update;
  std::vector<std::int64_t> starts;
  CacheArgs<float> args;
};

/// Every row named is the update's, every other one as it was.
void expect_written(const Problem& problem) {
  const std::int64_t added = problem.args.update.shape[2];
  for (int b = 0; b < kBatch; ++b)
    for (int h = 0; h < kHeads; ++h)
      for (int c = 0; c < kChannels; ++c) {
        std::array<float, kRows> want{};
        for (std::int64_t i = 0; i < added; ++i) {
          const std::int64_t start =
              problem.starts.empty() ? 0 : problem.starts[static_cast<std::size_t>(b)];
          want[static_cast<std::size_t>((start + i) % kRows)] =
              *problem.args.update.at(b, h, i, c);
        }
        for (int j = 0; j < kRows; ++j)
          EXPECT_EQ(*problem.args.cache.at(b, h, j, c), want[static_cast<std::size_t>(j)])
              << b << ", " << h << ", " << j << ", " << c;
      }
}

TEST(WriteCache, WritesTheRowsNamedAndNoOther) {
  for (const std::int64_t added : {0, 1, 2, 5}) {
    Problem problem(added);
    problem.starts = {kRows - added, 0};
    problem.args.starts = problem.starts.data();
    write_cache(problem.args);
    expect_written(problem);
  }
}

TEST(WriteCache, StartsAtZeroUnlessTold) {
  Problem problem(3);
  write_cache(problem.args);
  expect_written(problem);
}

TEST(WriteCache, CircularWrapsAroundAtAnyStart) {
  Problem problem(4);
  problem.starts = {3, (std::int64_t{1} << 62) + 1};
  problem.args.starts = problem.starts.data();
  problem.args.mode = CacheMode::circular;
  write_cache(problem.args);
  expect_written(problem);
}

TEST(WriteCache, AnyStrides) {
  // The cache is [batch, rows, heads, channels] in memory, the update runs backwards.
  Problem problem(2);
  problem.args.cache.strides = {kRows * kHeads * kChannels, kChannels, kHeads * kChannels, 1};
  problem.args.update.strides = {-kHeads * 2 * kChannels, -2 * kChannels, -kChannels, -1};
  problem.args.update.data = problem.update.data() + problem.update.size() - 1;
  problem.starts = {0, 3};
  problem.args.starts = problem.starts.data();
  write_cache(problem.args);
  expect_written(problem);
}

TEST(WriteCache, RefusesWhatDoesNotFit) {
  Problem problem(2);
  problem.starts = {0, kRows - 1};
  problem.args.starts = problem.starts.data();
  EXPECT_THROW(write_cache(problem.args), InvalidArgument);
  problem.starts = {0, -1};
  EXPECT_THROW(write_cache(problem.args), InvalidArgument);
  problem.args.mode = CacheMode::circular;
  EXPECT_THROW(write_cache(problem.args), InvalidArgument);
  Problem large(kRows + 1);
  EXPECT_THROW(write_cache(large.args), InvalidArgument);
  Problem other(1);
  other.args.update.shape[3] = kChannels - 1;
  EXPECT_THROW(write_cache(other.args), InvalidArgument);
  Problem without(1);
  without.args.update.data = nullptr;
  EXPECT_THROW(write_cache(without.args), InvalidArgument);
}

}  // namespace
}  // namespace attn
