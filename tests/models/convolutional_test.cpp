// The convolutional model: the laws of models, learning.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "attn/models/options.hpp"
#include "models/kinds.hpp"
#include "models/support/batches.hpp"
#include "models/support/laws.hpp"

namespace attn::models {
namespace {

/// Even widths have no middle, and a width of 1 has no past.
TEST(ConvolutionalModel, KeepsTheLawsOfModels) {
  for (const std::int64_t kernel : {1, 2, 3}) {
    SCOPED_TRACE("kernel " + std::to_string(kernel));
    ModelOptions options = test::tiny(Kind::convolutional);
    options.kernel = kernel;
    test::expect_model_laws(make_convolutional, options);
  }
}

TEST(ConvolutionalModel, LearnsToReverse) {
  ModelOptions options = test::tiny(Kind::convolutional);
  options.dim = 32;
  options.dropout = 0.0;
  EXPECT_LT(test::learnt_loss(make_convolutional, options, test::reversed), test::kLearnt);
}

}  // namespace
}  // namespace attn::models
