#include "attn/nn/mechanisms/pointer/pointer_generator.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

Tensor some(const Shape& shape) {
  return uniform(shape, -1.0, 1.0, nn::random());
}

nn::PointerGeneratorInputs some_inputs() {
  return {.encoder_states = some({2, 4, 3}),
          .decoder_states = some({2, 3, 2}),
          .decoder_inputs = some({2, 3, 2}),
          .vocab_logits = some({2, 3, 5}),
          .src_ids = Tensor::from(std::vector<std::int64_t>{1, 5, 1, 6, 0, 5, 2, 2}, {2, 4}),
          .lengths = Tensor::from(std::vector<std::int64_t>{4, 2}, {2}),
          .extra_words = 2};
}

nn::PointerGenerator module(nn::Coverage coverage = nn::Coverage::on) {
  return nn::PointerGenerator(
      {.encoder_dim = 3, .decoder_dim = 2, .input_dim = 2, .hidden = 4, .coverage = coverage});
}

TEST(PointerGenerator, DistributionsSumToOne) {
  const Tensor totals = sum(module().forward(some_inputs()).final_dist, -1);
  for (const float total : totals.to_vector<float>()) EXPECT_NEAR(total, 1.0f, test::kFloatSum);
}

TEST(PointerGenerator, OneStepAfterTheOtherEqualsAllAtOnce) {
  const nn::PointerGenerator generator = module();
  const nn::PointerGeneratorInputs all = some_inputs();
  nn::PointerGeneratorInputs one = all;
  one.keys = generator.keys(all.encoder_states, all.lengths);
  std::vector<Tensor> steps;
  for (std::int64_t t = 0; t < 3; ++t) {
    one.decoder_states = all.decoder_states.slice(1, t, t + 1);
    one.decoder_inputs = all.decoder_inputs.slice(1, t, t + 1);
    one.vocab_logits = all.vocab_logits.slice(1, t, t + 1);
    const nn::PointerGenerated made = generator.forward(one);
    one.looked_at = made.covered;
    steps.push_back(made.final_dist);
  }
  const auto got = concat(steps, 1).to_vector<float>();
  const auto want = generator.forward(all).final_dist.to_vector<float>();
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], test::kFloatSum);
}

TEST(PointerGenerator, RefusesIdsPastTheExtraWords) {
  nn::PointerGeneratorInputs in = some_inputs();
  in.extra_words = 1;
  EXPECT_THROW(module().forward(in), InvalidArgument);
  in = some_inputs();
  in.src_ids = in.src_ids.slice(1, 0, 3);
  EXPECT_THROW(module().forward(in), InvalidArgument);
}

}  // namespace
}  // namespace attn
