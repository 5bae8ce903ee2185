// The modules of the taught transcriber: steps are what a whole pass reads, padding changes
// nothing, and only location tells equal frames apart.

#include "tasks/las/listener.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/read_file.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/init.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/support/learns.hpp"
#include "support/tolerance.hpp"
#include "tasks/las/augment.hpp"
#include "tasks/las/data.hpp"
#include "tasks/las/features.hpp"
#include "tasks/las/monotone.hpp"
#include "tasks/las/search.hpp"
#include "tasks/las/support.hpp"
#include "tasks/las/task.hpp"
#include "tasks/scratch.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn::tasks::las {
namespace {

SpellerOptions small_speller(const std::string& attention, const std::string& location) {
  return {.attention = attention,
          .location = location,
          .vocabulary = 9,
          .heard = 6,
          .embedding = 4,
          .hidden = 5,
          .score = 7,
          .channels = 2,
          .width = 3};
}

TEST(LasSpeller, StepByStepIsWhatItReadsAndPaddingChangesNothing) {
  for (const auto& [attention, location] :
       {std::pair{"additive", "convolved"}, {"additive", "none"}, {"dot", "none"}}) {
    nn::seed(5);
    Speller speller(small_speller(attention, location));
    speller.to(DType::f64);
    speller.eval();
    const NoGrad off_the_tape;
    const Tensor heard = test::random_tensor("heard", {2, 8, 6});
    const Tensor lengths = Tensor::from(std::vector<std::int64_t>{8, 5}, {2});
    const Tensor tokens = Tensor::from(std::vector<std::int64_t>{1, 4, 5, 1, 6, 4}, {2, 3});
    const Speller::Memory memory = speller.memory(heard, lengths);
    const Tensor read = speller.read(memory, tokens);
    Speller::State state = speller.begin(memory);
    for (std::int64_t t = 0; t < 3; ++t) {
      state = speller.step(memory, state, tokens.select(1, t));
      test::expect_close(speller.logits(state), read.select(1, t), test::kDoubleSum, attention);
    }
    for (const float past :
         state.weights.to(DType::f32).slice(0, 1, 2).slice(1, 5, 8).to_vector<float>())
      EXPECT_EQ(past, 0.0F);
    const Tensor alone = speller.read(speller.memory(heard.slice(0, 1, 2).slice(1, 0, 5), {}),
                                      tokens.slice(0, 1, 2));
    test::expect_close(alone, read.slice(0, 1, 2), test::kDoubleSum, attention);
  }
}

TEST(LasSpeller, KnowsWhereItWasOnlyWithLocation) {
  // Equal frames tell nothing apart: without location all weights are equal.
  for (const bool guided : {true, false}) {
    nn::seed(5);
    Speller speller(small_speller("additive", guided ? "convolved" : "none"));
    speller.eval();
    const NoGrad off_the_tape;
    const Speller::Memory memory = speller.memory(Tensor::full({1, 6, 6}, 0.5), {});
    Speller::State state = speller.begin(memory);
    for (const std::int64_t token : {1, 4, 5})
      state = speller.step(memory, state, Tensor::from(std::vector<std::int64_t>{token}, {1}));
    const std::vector<float> weights = state.weights.to_vector<float>();
    const auto [least, most] = std::minmax_element(weights.begin(), weights.end());
    EXPECT_EQ(*most - *least > 1e-6F, guided);
  }
}

TEST(LasListener, OfABatchIsThatOfItsRows) {
  nn::seed(5);
  Listener listener(4, 0.5);
  listener.to(DType::f64);
  listener.eval();
  const NoGrad off_the_tape;
  const Tensor frames = test::random_tensor("frames", {2, 15, kBands});
  const nn::Listened both =
      listener(frames, Tensor::from(std::vector<std::int64_t>{15, 9}, {2}));
  EXPECT_EQ(both.lengths.to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, 2}));
  EXPECT_TRUE(both.output.shape() == (Shape{2, 3, 8}));
  const nn::Listened one = listener(frames.slice(0, 1, 2).slice(1, 0, 9),
                                    Tensor::from(std::vector<std::int64_t>{9}, {1}));
  test::expect_close(one.output, both.output.slice(0, 1, 2).slice(1, 0, 2), test::kDoubleSum);
}

}  // namespace
}  // namespace attn::tasks::las
