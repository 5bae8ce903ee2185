// The n-gram baseline: probabilities that sum to one, the formula by hand, and less bits than
// shorter contexts give.

#include "tasks/write/kneser_ney.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "support/tolerance.hpp"

namespace attn::tasks {
namespace {

using Tokens = std::vector<std::int64_t>;

TEST(KneserNey, IsTheFormula) {
  // Bigrams: 01 twice, 12 once, 10 once, 20 once; the first token stands alone.
  const std::vector<Tokens> texts{{0, 1, 2, 0, 1, 0}};
  const KneserNey model(texts, 4, 2);
  // d_2 = 3 / (3 + 2). Of single tokens: 0 follows 1 and 2 and begins the text, 1 follows 0, 2
  // follows 1: 3, 1, 1, so that there is no 2 and d_1 is 0.75.
  const double one_uniform = 1.0 / 4.0;
  const double zero = (3.0 - 0.75 + 0.75 * 3.0 * one_uniform) / 5.0;
  EXPECT_TRUE(test::close(model.probability(Tokens{}, 0), zero, test::kDouble));
  const double after_one = (1.0 - 0.6 + 0.6 * 2.0 * zero) / 2.0;
  EXPECT_TRUE(test::close(model.probability(Tokens{1}, 0), after_one, test::kDouble));
  // Nothing was seen behind 3.
  EXPECT_TRUE(test::close(model.probability(Tokens{3}, 0), zero, test::kDouble));
}

TEST(KneserNey, SumsToOneAndUsesWhatIsBefore) {
  Tokens text;
  for (std::int64_t i = 0; i < 3000; ++i) text.push_back((i * i + i / 7) % 9);
  const std::vector<Tokens> texts{Tokens(text.begin(), text.begin() + 2000)};
  const Tokens rest(text.begin() + 2000, text.end());
  double before = 1e9;
  for (const int order : {1, 2, 3}) {
    const KneserNey model(texts, 12, order);
    for (const Tokens& context : std::vector<Tokens>{{}, {1}, {3, 4}, {11, 11}, {1, 2, 3, 4}}) {
      double sum = 0.0;
      for (std::int64_t token = 0; token < 12; ++token)
        sum += model.probability(context, token);
      EXPECT_TRUE(test::close(sum, 1.0, test::kDoubleSum)) << order;
    }
    const double bits = model.bits(rest);
    EXPECT_LT(bits, before);
    before = bits;
  }
}

TEST(KneserNey, RefusesWhatHasNoKey) {
  EXPECT_THROW(KneserNey({}, 5000, 5), InvalidArgument);
  EXPECT_THROW(KneserNey({}, 10, 6), InvalidArgument);
  EXPECT_THROW(KneserNey({}, 10, 0), InvalidArgument);
}

}  // namespace
}  // namespace attn::tasks
