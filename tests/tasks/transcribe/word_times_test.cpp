// Times from weights: the best monotone path, medians, and which heads tell where words are.

#include "tasks/transcribe/word_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"
#include "tasks/transcribe/spectrogram.hpp"

namespace attn::tasks {
namespace {

using maps::Matrix;

/// Every path there is.
double best_sum(const Matrix& gains, std::size_t row, std::size_t column) {
  const double here = static_cast<double>(gains.at(row, column));
  if (row + 1 == gains.rows && column + 1 == gains.columns) return here;
  double best = -std::numeric_limits<double>::infinity();
  if (row + 1 < gains.rows) best = std::max(best, best_sum(gains, row + 1, column));
  if (column + 1 < gains.columns) best = std::max(best, best_sum(gains, row, column + 1));
  if (row + 1 < gains.rows && column + 1 < gains.columns)
    best = std::max(best, best_sum(gains, row + 1, column + 1));
  return here + best;
}

/// The best sum of a path that enters the rows at these columns.
double sum_of(const Matrix& gains, const std::vector<std::size_t>& first) {
  double sum = 0.0;
  for (std::size_t row = 0; row < gains.rows; ++row) {
    const bool last = row + 1 == gains.rows;
    const std::size_t next = last ? gains.columns : first[row + 1];
    for (std::size_t column = first[row]; column < next; ++column)
      sum += static_cast<double>(gains.at(row, column));
    // Down and not across: the column is in both rows.
    if (!last && (next == first[row] || gains.at(row, next) > 0.0f))
      sum += static_cast<double>(gains.at(row, next));
  }
  return sum;
}

TEST(MonotonePath, IsTheBestOfAll) {
  Random random(5);
  for (const std::int64_t rows : {1, 2, 4})
    for (const std::int64_t columns : {1, 3, 6}) {
      const Matrix gains{static_cast<std::size_t>(rows), static_cast<std::size_t>(columns),
                         normal({rows, columns}, 0.0, 1.0, random).to_vector<float>()};
      const std::vector<std::size_t> path = monotone_path(gains);
      EXPECT_TRUE(std::is_sorted(path.begin(), path.end()));
      EXPECT_EQ(path.front(), 0u);
      EXPECT_NEAR(sum_of(gains, path), best_sum(gains, 0, 0), test::kFloatSum)
          << rows << " x " << columns;
    }
}

TEST(MonotonePath, FollowsABand) {
  Matrix gains{3, 9, std::vector<float>(27, 0.0f)};
  for (std::size_t column = 0; column < 9; ++column)
    gains.values[column / 3 * 9 + column] = 1.0f;
  EXPECT_EQ(monotone_path(gains), (std::vector<std::size_t>{0, 3, 6}));
  EXPECT_TRUE(monotone_path(Matrix{}).empty());
}

TEST(MedianFilter, TakesTheMiddleOfEachNeighbourhood) {
  const Matrix seen = median_filtered({1, 6, {0.0f, 9.0f, 1.0f, 2.0f, 3.0f, 8.0f}}, 3);
  EXPECT_EQ(seen.values, (std::vector<float>{9.0f, 1.0f, 2.0f, 2.0f, 3.0f, 3.0f}));
  const Matrix narrow{1, 2, {1.0f, 2.0f}};
  EXPECT_EQ(median_filtered(narrow, 7), narrow);
}

TEST(Sharpness, IsTheShareOnTheBestPath) {
  Matrix diagonal{3, 30, std::vector<float>(90, 0.0f)};
  for (std::size_t row = 0; row < 3; ++row) diagonal.values[row * 30 + row * 10 + 5] = 1.0f;
  EXPECT_NEAR(sharpness(diagonal), 1.0, test::kFloat);
  const Matrix even{3, 30, std::vector<float>(90, 1.0f / 30.0f)};
  EXPECT_LT(sharpness(even), 0.9);
}

/// Of two layers with two heads, one head follows the sound.
TEST(AlignmentGains, ComeFromTheHeadsThatFollowTheSound) {
  constexpr std::size_t kRows = 4;
  constexpr std::size_t kFrames = 40;
  const auto layer = [&](bool follows) {
    std::vector<float> weights(2 * kRows * kFrames, 1.0f / kFrames);
    if (follows)
      for (std::size_t row = 0; row < kRows; ++row)
        for (std::size_t i = 0; i < kFrames; ++i)
          weights[(kRows + row) * kFrames + i] = i / 10 == row ? 0.1f : 0.0f;
    return Tensor::from(weights, {2, kRows, kFrames});
  };
  const std::vector<Tensor> layers{layer(false), layer(true)};
  const Matrix weights = alignment_weights(layers, 1);
  EXPECT_EQ(weights.at(2, 25), 0.1f);
  EXPECT_EQ(weights.at(2, 5), 0.0f);
  const std::vector<std::size_t> path = monotone_path(alignment_gains(layers, 1));
  EXPECT_EQ(path, (std::vector<std::size_t>{0, 10, 20, 30}));
}

TEST(Spectrogram, ShowsAToneInItsBand) {
  std::vector<float> samples(16000);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = std::sin(6.2831853f * 1000.0f * static_cast<float>(i) / 16000.0f);
  const Matrix seen = spectrogram(samples, 20);
  ASSERT_EQ(seen.rows, 64u);
  ASSERT_EQ(seen.columns, 20u);
  // 1000 of 8000 Hz: the eighth band of 64, counted from below.
  for (std::size_t column = 1; column < 19; ++column) {
    EXPECT_GT(seen.at(63 - 8, column), 0.99f);
    EXPECT_EQ(seen.at(10, column), 0.0f);
  }
  const Matrix nothing = spectrogram(std::vector<float>(1000, 0.0f), 5);
  EXPECT_TRUE(std::all_of(nothing.values.begin(), nothing.values.end(),
                          [](float x) { return x == 0.0f; }));
  EXPECT_EQ(spectrogram({}, 3).values.size(), 192u);
}

}  // namespace
}  // namespace attn::tasks
