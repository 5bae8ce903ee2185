#include "attn/kernels/rotary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/args.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

constexpr int kBatch = 2, kHeads = 3, kPositions = 5, kPairs = 3;

/// Random vectors and the angles of their positions.
template <class T>
struct Problem {
  explicit Problem(int width, const char* seed = "rotary") : channels(width) {
    test::Random random(seed);
    const auto fill = [&](std::vector<T>& to, int count) {
      for (int i = 0; i < count; ++i)
        to.push_back(T(static_cast<float>(random.uniform(-1, 1))));
    };
    fill(x, kBatch * kHeads * kPositions * channels);
    fill(cos, kBatch * kPositions * kPairs);
    fill(sin, kBatch * kPositions * kPairs);
    out.resize(x.size());
    args.x = packed<const T>(x.data(), kBatch, kHeads, kPositions, channels);
    args.out = packed<T>(out.data(), kBatch, kHeads, kPositions, channels);
    args.cos = packed<const T>(cos.data(), kBatch, kPositions, kPairs);
    args.sin = packed<const T>(sin.data(), kBatch, kPositions, kPairs);
  }
  Problem(const Problem&) = delete;

  int channels;
  std::vector<T> x, cos, sin, out;
  std::vector<std::int64_t> rows;
  RotaryArgs<T> args;
};

template <class T>
double wide(T x) {
  return static_cast<double>(static_cast<StatOf<T>>(x));
}

/// The definition, pair by pair, on a copy of the input.
template <class T>
void expect_turned(const Problem<T>& problem, const std::vector<T>& input) {
  const RotaryArgs<T>& args = problem.args;
  const bool interleaved = args.pairs == RotaryPairs::interleaved;
  const auto before =
      packed<const T>(input.data(), kBatch, kHeads, kPositions, problem.channels);
  for (int b = 0; b < kBatch; ++b)
    for (int h = 0; h < kHeads; ++h)
      for (int i = 0; i < kPositions; ++i) {
        const bool picked = args.rows.data != nullptr;
        const std::int64_t row = picked ? *args.rows.at(b, i) : i;
        const int batch = picked ? 0 : b;
        for (int c = 0; c < problem.channels; ++c) {
          double want = wide(*before.at(b, h, i, c));
          if (c < 2 * kPairs) {
            const int pair = interleaved ? c / 2 : c % kPairs;
            const bool second = interleaved ? c % 2 == 1 : c >= kPairs;
            const int mate = interleaved ? c ^ 1 : second ? c - kPairs : c + kPairs;
            const double other = wide(*before.at(b, h, i, mate));
            const double cosine = wide(*args.cos.at(batch, row, pair));
            const double sine = wide(*args.sin.at(batch, row, pair));
            want = want * cosine + (second ? other : -other) * sine;
          }
          EXPECT_TRUE(
              test::close(wide(*args.out.at(b, h, i, c)), want, test::tolerance(kDType<T>)))
              << b << ", " << h << ", " << i << ", " << c;
        }
      }
}

template <class T>
class Rotary : public testing::Test {};
using Types = testing::Types<double, float, BFloat16, Float16>;
TYPED_TEST_SUITE(Rotary, Types);

TYPED_TEST(Rotary, TurnsPairsAndCopiesTheRest) {
  for (const int channels : {2 * kPairs, 2 * kPairs + 1, 11})
    for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::interleaved}) {
      Problem<TypeParam> problem(channels);
      problem.args.pairs = pairs;
      rotate(problem.args);
      expect_turned(problem, problem.x);
    }
}

TYPED_TEST(Rotary, InPlaceIsTheSame) {
  for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::interleaved}) {
    Problem<TypeParam> problem(8);
    const std::vector<TypeParam> before = problem.x;
    problem.args.pairs = pairs;
    problem.args.out.data = problem.x.data();
    rotate(problem.args);
    expect_turned(problem, before);
  }
}

TYPED_TEST(Rotary, PositionsPickRows) {
  Problem<TypeParam> problem(7);
  constexpr int kRows = kBatch * kPositions;
  problem.rows = {0, 9, 3, 3, 1, 8, 2, 7, 5, 4};
  problem.args.cos = packed<const TypeParam>(problem.cos.data(), 1, kRows, kPairs);
  problem.args.sin = packed<const TypeParam>(problem.sin.data(), 1, kRows, kPairs);
  problem.args.rows = packed<const std::int64_t>(problem.rows.data(), kBatch, kPositions);
  rotate(problem.args);
  expect_turned(problem, problem.x);
  for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{kRows}}) {
    problem.rows[4] = wrong;
    EXPECT_THROW(rotate(problem.args), InvalidArgument);
  }
}

TEST(RotaryStrides, HeadsBehindPositions) {
  Problem<float> problem(6);
  // [batch, positions, heads, channels] in memory, for input and output.
  const int step = kHeads * 6;
  problem.args.out.strides = {kPositions * step, 6, step, 1};
  rotate(problem.args);
  expect_turned(problem, problem.x);
}

TEST(RotaryThreads, LargeProblemsAreTheSameInPieces) {
  constexpr int kLong = 600, kWide = 64;
  test::Random random("large rotary");
  const auto x = random.numbers<float>(std::size_t{4} * kLong * kWide);
  const auto cos = random.numbers<float>(std::size_t{kLong} * kWide / 2);
  const auto sin = random.numbers<float>(cos.size());
  std::vector<float> whole(x.size());
  std::vector<float> part(x.size());
  RotaryArgs<float> args{.x = packed<const float>(x.data(), 1, 4, kLong, kWide),
                         .cos = packed<const float>(cos.data(), 1, kLong, kWide / 2),
                         .sin = packed<const float>(sin.data(), 1, kLong, kWide / 2),
                         .out = packed<float>(whole.data(), 1, 4, kLong, kWide)};
  rotate(args);
  for (int h = 0; h < 4; ++h) {
    for (int i = 0; i < kLong; i += 100) {
      RotaryArgs<float> piece = args;
      piece.x.data = args.x.at(0, h, i);
      piece.out.data = part.data() + (args.out.at(0, h, i) - whole.data());
      piece.cos.data = args.cos.at(0, i);
      piece.sin.data = args.sin.at(0, i);
      piece.x.shape = piece.out.shape = {1, 1, 100, kWide};
      piece.cos.shape = piece.sin.shape = {1, 100, kWide / 2};
      rotate(piece);
    }
  }
  EXPECT_EQ(whole, part);
}

TEST(RotaryErrors, EmptyIsFineAndWrongSizesAreNot) {
  RotaryArgs<float> empty{.x = packed<const float>(nullptr, 0, 3, 4, 8),
                          .cos = packed<const float>(nullptr, 0, 4, 4),
                          .sin = packed<const float>(nullptr, 0, 4, 4),
                          .out = packed<float>(nullptr, 0, 3, 4, 8)};
  EXPECT_NO_THROW(rotate(empty));
  Problem<float> problem(2 * kPairs - 1);
  EXPECT_THROW(rotate(problem.args), InvalidArgument) << "more pairs than channels";
  Problem<float> short_sin(8);
  short_sin.args.sin.shape[1] = kPositions - 1;
  EXPECT_THROW(rotate(short_sin.args), InvalidArgument);
  Problem<float> other_out(8);
  other_out.args.out.shape[3] = 7;
  EXPECT_THROW(rotate(other_out.args), InvalidArgument);
}

}  // namespace
}  // namespace attn
