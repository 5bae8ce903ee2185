// A functor without a backward gets gradients of its score and of every table it reads.

#include "attn/core/functor.hpp"

#include <gtest/gtest.h>

#include "attn/core/concepts.hpp"
#include "support/score_laws.hpp"

namespace attn {
namespace {

/// Reads a table in all three ways, twice in one of them, and has no backward of its own.
struct ReadsEverything {
  template <class V, class P>
  V forward(V s, Site<V> at, const P& p) const {
    return s * p.value(0) + p.at(1, at.k % 3) * p.at(1, 2) + tanh(p.along(2, at) * s);
  }
};
static_assert(ScoreFunctor<ReadsEverything>);

TEST(Functor, DualNumbersDifferentiateEveryReadOfEveryTable) {
  test::Random random("ReadsEverything");
  test::expect_backward_matches_differences(ReadsEverything{},
                                            {{{1, test::kHeads, 1, 1}, random},
                                             {{test::kBatches, 1, 1, 3}, random},
                                             {{1, 1, test::kQueries, test::kKeys}, random}});
}

TEST(Functor, AGradientThatNobodyWantsIsNotWritten) {
  const double scale = 2.0;
  const std::vector<Table> tables(3, table(&scale, {1, 1, 1, 1}));
  const std::vector<TableGrad> unwanted(3);
  const Params<double> p{tables.data()};
  const ParamGrads<double> g{unwanted.data()};
  EXPECT_FALSE(g.wants(0));
  call_backward(ReadsEverything{}, 1.0, 0.5, Site<double>{}, p, g, 3);
}

}  // namespace
}  // namespace attn
