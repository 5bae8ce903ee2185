/// The law of score and weight modifiers: their gradients, with respect to the score and to
/// every table entry, are those of finite differences and of dual numbers.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

#include "attn/core/concepts.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn::test {

/// The problem that the laws are checked on.
inline constexpr int kBatches = 2, kHeads = 3, kQueries = 4, kKeys = 7;

/// A table in double that owns its numbers.
struct TestTable {
  std::array<std::int64_t, 4> shape;
  std::vector<double> data;

  TestTable(std::array<std::int64_t, 4> extents, std::vector<double> numbers)
      : shape(extents), data(std::move(numbers)) {}
  /// Random entries between low and high.
  TestTable(std::array<std::int64_t, 4> extents, Random& random, double low = -1.0,
            double high = 1.0)
      : shape(extents),
        data(random.numbers(
            static_cast<std::size_t>(extents[0] * extents[1] * extents[2] * extents[3]), low,
            high)) {}

  Table view() const { return table(data.data(), shape); }
};

inline std::vector<Table> views(const std::vector<TestTable>& tables) {
  std::vector<Table> result;
  for (const TestTable& t : tables) result.push_back(t.view());
  return result;
}

/// Calls visit(site, its number) for every pair of the problem.
template <class Visit>
void for_each_site(const Visit& visit) {
  std::size_t i = 0;
  for (int b = 0; b < kBatches; ++b)
    for (int h = 0; h < kHeads; ++h)
      for (int q = 0; q < kQueries; ++q)
        for (int k = 0; k < kKeys; ++k) visit(Site<double>{b, h, q, k}, i++);
}
inline constexpr std::size_t kSites = std::size_t{kBatches} * kHeads * kQueries * kKeys;

/// The same functor without its backward, so that dual numbers differentiate it.
template <class F>
struct ForwardOnly {
  F f;
  template <class V, class P>
  V forward(V s, Site<V> at, const P& p) const {
    return call_forward(f, s, at, p);
  }
};

/// A weight factor as a function of the weight.
template <class F>
struct Factored {
  F f;
  template <class V, class P>
  V forward(V w, Site<V> at, const P& p) const {
    if constexpr (requires { f.factor(at, p); }) {
      return w * f.factor(at, p);
    } else {
      return w * f.factor(at);
    }
  }
};

/// sum of seed * forward(s) over all pairs.
template <class F>
double loss(const F& f, const std::vector<double>& s, const std::vector<double>& seed,
            const std::vector<TestTable>& tables) {
  const std::vector<Table> v = views(tables);
  double sum = 0.0;
  for_each_site([&](const Site<double>& at, std::size_t i) {
    sum +=
        seed[i] * call_forward(f, s[i], at, Params<double>{v.data(), at.batch, at.head, at.q});
  });
  return sum;
}

/// The gradients of the loss with respect to the scores, and to each table.
struct Gradients {
  std::vector<double> scores;
  std::vector<std::vector<double>> tables;
};

template <class F>
Gradients gradients(const F& f, const std::vector<double>& s, const std::vector<double>& seed,
                    const std::vector<TestTable>& tables) {
  const std::vector<Table> v = views(tables);
  Gradients result{std::vector<double>(s.size()), {}};
  std::vector<TableGrad> grads;
  for (const TestTable& t : tables) result.tables.emplace_back(t.data.size());
  for (std::size_t t = 0; t < tables.size(); ++t)
    grads.push_back(table_grad(result.tables[t].data(), tables[t].shape));
  for_each_site([&](const Site<double>& at, std::size_t i) {
    const Params<double> p{v.data(), at.batch, at.head, at.q};
    const ParamGrads<double> g{grads.data(), at.batch, at.head, at.q};
    result.scores[i] =
        call_backward(f, seed[i], s[i], at, p, g, static_cast<int>(tables.size()));
  });
  return result;
}

inline void expect_same(const Gradients& got, const Gradients& want, double within,
                        const char* what) {
  for (std::size_t i = 0; i < want.scores.size(); ++i)
    EXPECT_TRUE(close(got.scores[i], want.scores[i], within)) << what << ", score " << i;
  for (std::size_t t = 0; t < want.tables.size(); ++t)
    for (std::size_t i = 0; i < want.tables[t].size(); ++i)
      EXPECT_TRUE(close(got.tables[t][i], want.tables[t][i], within))
          << what << ", table " << t << ", entry " << i;
}

/// The functor's own backward, dual numbers and central differences agree.
template <class F>
void expect_backward_matches_differences(const F& f, std::vector<TestTable> tables = {},
                                         double low = -3.0, double high = 3.0) {
  Random random("expect_backward_matches_differences");
  std::vector<double> s = random.numbers(kSites, low, high);
  const std::vector<double> seed = random.numbers(kSites);

  const Gradients own = gradients(f, s, seed, tables);
  Gradients differences = own;
  const auto difference = [&](double& x) {
    const double kept = x;
    x = kept + kDifferenceStep;
    const double above = loss(f, s, seed, tables);
    x = kept - kDifferenceStep;
    const double below = loss(f, s, seed, tables);
    x = kept;
    return (above - below) / (2 * kDifferenceStep);
  };
  for (std::size_t i = 0; i < s.size(); ++i) differences.scores[i] = difference(s[i]);
  for (std::size_t t = 0; t < tables.size(); ++t)
    for (std::size_t i = 0; i < tables[t].data.size(); ++i)
      differences.tables[t][i] = difference(tables[t].data[i]);

  expect_same(own, differences, kSites * kDifferenceTolerance, "backward against differences");
  expect_same(gradients(ForwardOnly<F>{f}, s, seed, tables), own,
              tolerance(DType::f64, static_cast<int>(kSites)), "dual numbers against backward");
}

}  // namespace attn::test
