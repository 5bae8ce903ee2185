// The head behind an attention learns what a stored value means.

#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/pooling/output_head.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "nn/score/recall.hpp"

namespace attn::test {
namespace {

TEST(OutputHead, LearnsWhatAStoredValueMeans) {
  nn::seed(1);
  const nn::OutputHead head({.value_dim = 1, .out = 1, .activation = Activation::tanh});
  expect_learns(
      0.1,
      [&] {
        return train_recall(head, 150, 0.05, [&](const Recall& batch) {
          // Long queries make the looking sharp; what is found means its opposite.
          return neg(head.forward(batch.queries * 10.0, batch.keys, batch.values).output);
        });
      },
      [] { return train_recall_without(150, 0.05); });
}

}  // namespace
}  // namespace attn::test
