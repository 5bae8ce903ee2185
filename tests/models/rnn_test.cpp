// The model without attention: the laws of models, learning.

#include <gtest/gtest.h>

#include "attn/models/options.hpp"
#include "models/kinds.hpp"
#include "models/support/batches.hpp"
#include "models/support/laws.hpp"

namespace attn::models {
namespace {

TEST(RnnModel, KeepsTheLawsOfModels) {
  ModelOptions options = test::tiny(Kind::rnn);
  test::expect_model_laws(make_rnn, options);
  options.encoder_layers = 1;
  options.tie = Tie::none;
  test::expect_model_laws(make_rnn, options);
}

/// The bound that models with attention keep: one vector does not hold six letters as soon.
TEST(RnnModel, LearnsShortWordsBeforeLongOnes) {
  ModelOptions options = test::tiny(Kind::rnn);
  options.dim = 32;
  options.dropout = 0.0;
  EXPECT_LT(test::learnt_loss(make_rnn, options, test::reversed, {.longest = 3}),
            test::kLearnt);
  EXPECT_GT(test::learnt_loss(make_rnn, options, test::reversed), test::kLearnt);
}

}  // namespace
}  // namespace attn::models
