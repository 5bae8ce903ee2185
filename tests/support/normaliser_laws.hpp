/// The laws of normalisers: cutting and shuffling a row changes nothing, masked scores do not
/// exist, huge scores stay finite, and gradients are those of finite differences.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "attn/core/concepts.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn::test {

/// A row as a kernel runs it, with the keys cut into chunks: the pooled value and the stat.
template <class V>
struct RunRow {
  V pooled;
  V stat;
};

template <class N, class V>
RunRow<V> run_row(const N& n, const std::vector<V>& s, const std::vector<V>& values,
                  std::size_t chunk, const Params<V>& p = {}) {
  const Site<V> first{};
  const int count = static_cast<int>(s.size());
  V pooled = V(0);
  if constexpr (WholeRowNormaliser<N>) {
    const V stat = n.solve(s.data(), count, first);
    for (int k = 0; k < count; ++k)
      pooled += n.final_weight(s[static_cast<std::size_t>(k)], stat, Site<V>{0, 0, 0, k}) *
                values[static_cast<std::size_t>(k)];
    return {pooled, stat};
  } else {
    V reference = N::kRunsMax ? V(-kInfinity) : V(0);
    V mass = V(0);
    for (std::size_t begin = 0; begin < s.size(); begin += chunk) {
      const std::size_t end = std::min(begin + chunk, s.size());
      if constexpr (N::kRunsMax) {
        V largest = reference;
        for (std::size_t k = begin; k < end; ++k) largest = max(largest, s[k]);
        const V rescale = n.rescale(reference, largest);
        pooled *= rescale;
        mass *= rescale;
        reference = largest;
      }
      for (std::size_t k = begin; k < end; ++k) {
        const V weight = n.weight(s[k], reference);
        pooled += weight * values[k];
        if (s[k] > V(-kInfinity)) mass += n.mass(weight);
      }
    }
    const Row<V> row = n.finish(reference, mass, p);
    return {pooled * row.scale, row.stat};
  }
}

/// The weights of a row.
template <class N, class V>
std::vector<V> weights_of(const N& n, const std::vector<V>& s, const Params<V>& p = {}) {
  const V stat = run_row(n, s, std::vector<V>(s.size()), s.size() + 1, p).stat;
  std::vector<V> result(s.size());
  for (std::size_t k = 0; k < s.size(); ++k)
    result[k] = n.final_weight(s[k], stat, Site<V>{0, 0, 0, static_cast<int>(k)});
  return result;
}

/// What the weights of a row without masked keys add up to.
enum class Total { one, below_one, any };

/// Chunks, order, masked scores, empty rows and huge scores.
template <class N>
void expect_streams(const N& n, Total total, const Params<double>& p = {}) {
  Random random("expect_streams");
  constexpr std::size_t kCount = 37;
  const double within = tolerance(DType::f64, static_cast<int>(kCount));
  std::vector<double> s = random.numbers(kCount, -4.0, 4.0);
  for (const std::size_t masked : {0u, 1u, 5u, 36u}) s[masked] = -INFINITY;
  const std::vector<double> values = random.numbers(kCount);

  const RunRow<double> whole = run_row(n, s, values, kCount, p);
  for (const std::size_t chunk : {1u, 2u, 3u, 8u, 36u}) {
    const RunRow<double> cut = run_row(n, s, values, chunk, p);
    EXPECT_TRUE(close(cut.pooled, whole.pooled, within)) << "chunk " << chunk;
    EXPECT_TRUE(close(cut.stat, whole.stat, within)) << "chunk " << chunk;
  }

  double pooled = 0.0;
  double sum = 0.0;
  const std::vector<double> weights = weights_of(n, s, p);
  for (std::size_t k = 0; k < kCount; ++k) {
    pooled += weights[k] * values[k];
    sum += weights[k];
    if (s[k] == -INFINITY) {
      EXPECT_EQ(weights[k], 0.0) << "masked key " << k;
      EXPECT_EQ(n.final_slope(s[k], weights[k], whole.stat, Site<double>{}), 0.0);
    }
  }
  EXPECT_TRUE(close(pooled, whole.pooled, within)) << "final weights against the stream";
  if (total == Total::one) {
    EXPECT_TRUE(close(sum, 1.0, within));
  } else if (total == Total::below_one) {
    EXPECT_LT(sum, 1.0);
  }

  std::vector<std::size_t> order(kCount);
  std::iota(order.begin(), order.end(), 0u);
  random.shuffle(order);
  std::vector<double> mixed_s, mixed_values, kept_s, kept_values;
  for (const std::size_t k : order) {
    mixed_s.push_back(s[k]);
    mixed_values.push_back(values[k]);
    if (s[k] == -INFINITY) continue;
    kept_s.push_back(s[k]);
    kept_values.push_back(values[k]);
  }
  EXPECT_TRUE(close(run_row(n, mixed_s, mixed_values, 5, p).pooled, whole.pooled, within))
      << "another order";
  EXPECT_TRUE(close(run_row(n, kept_s, kept_values, 5, p).pooled, whole.pooled, within))
      << "without the masked keys";
}

/// A row of masked scores, and one of no scores at all, pools 0 with weights 0.
template <class N>
void expect_empty_rows_are_zero(const N& n, const Params<double>& p = {}) {
  for (const std::size_t count : {0u, 1u, 9u}) {
    const std::vector<double> s(count, -INFINITY);
    EXPECT_EQ(run_row(n, s, std::vector<double>(count, 7.0), 4, p).pooled, 0.0);
    const double stat = run_row(n, s, std::vector<double>(count, 7.0), 4, p).stat;
    const Site<double> at{};
    EXPECT_EQ(n.final_weight(-double{INFINITY}, stat, at), 0.0);
    EXPECT_EQ(n.final_slope(-double{INFINITY}, 0.0, stat, at), 0.0);
  }
}

/// In float: scores of +-5000 neither overflow nor become NaN.
template <class N>
void expect_huge_scores_stay_finite(const N& n, const Params<float>& p = {}) {
  for (const std::vector<float>& s :
       {std::vector<float>{5000.0f, -5000.0f, 4999.0f, -kInfinity},
        std::vector<float>{-5000.0f, -5000.0f}, std::vector<float>{-kInfinity, -5000.0f},
        std::vector<float>{5000.0f}}) {
    const RunRow<float> row = run_row(n, s, std::vector<float>(s.size(), 0.5f), 1, p);
    EXPECT_TRUE(std::isfinite(row.pooled));
    for (const float w : weights_of(n, s, p)) EXPECT_TRUE(std::isfinite(w));
  }
}

/// slope * (dP - delta) is the gradient of sum(dP * weights).
template <class N>
void expect_gradient_matches_differences(const N& n, const Params<double>& p = {}) {
  Random random("expect_gradient_matches_differences");
  constexpr std::size_t kCount = 9;
  std::vector<double> s = random.numbers(kCount, -1.0, 1.0);
  s[4] = -INFINITY;
  const std::vector<double> d_weights = random.numbers(kCount);
  const auto loss = [&] {
    const std::vector<double> w = weights_of(n, s, p);
    return std::inner_product(w.begin(), w.end(), d_weights.begin(), 0.0);
  };

  const std::vector<double> w = weights_of(n, s, p);
  const double stat = run_row(n, s, d_weights, kCount, p).stat;
  std::vector<double> slope(kCount);
  double numerator = 0.0;
  double denominator = 0.0;
  for (std::size_t k = 0; k < kCount; ++k) {
    slope[k] = n.final_slope(s[k], w[k], stat, Site<double>{0, 0, 0, static_cast<int>(k)});
    const double share = N::kCoupling == Coupling::support ? slope[k] : w[k];
    numerator += share * d_weights[k];
    denominator += share;
  }
  double delta = 0.0;
  if (N::kCoupling == Coupling::output) delta = numerator;
  if (N::kCoupling == Coupling::support) delta = numerator / denominator;

  for (std::size_t k = 0; k < kCount; ++k) {
    const double kept = s[k];
    s[k] = kept + kDifferenceStep;
    const double above = loss();
    s[k] = kept - kDifferenceStep;
    const double below = loss();
    s[k] = kept;
    const double want = (above - below) / (2 * kDifferenceStep);
    EXPECT_TRUE(close(slope[k] * (d_weights[k] - delta), want, kDifferenceTolerance))
        << "key " << k;
  }
}

}  // namespace attn::test
