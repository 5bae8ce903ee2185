// The language model: its cache, its rounds, its gradients, and the choice of the next token.
// Its formulas are checked in tests/tasks/write, against slow loops that read Llama's files.

#include "attn/models/language_model.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/models/next_token.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"

namespace attn::models {
namespace {

LanguageModelOptions llama() {
  LanguageModelOptions options;
  options.vocabulary = 11;
  options.dim = 8;
  options.layers = 2;
  options.heads = 4;
  options.key_value_heads = 2;
  options.feed_forward = 6;
  options.window = 9;
  options.rotary_pairs = RotaryPairs::interleaved;
  return options;
}

Tensor row_of(const std::vector<std::int64_t>& ids) {
  return Tensor::from(ids, {1, static_cast<std::int64_t>(ids.size())});
}

TEST(LanguageModel, ReadsInPiecesAsInOneGo) {
  for (const TextPositions positions :
       {TextPositions::rotary, TextPositions::learned, TextPositions::none})
    for (const std::int64_t rounds : {1, 2}) {
      LanguageModelOptions options = llama();
      options.positions = positions;
      options.rounds = rounds;
      options.norm = nn::NormKind::layer;
      options.feed = nn::FeedForward::geglu;
      options.tie = false;
      options.bias = nn::Bias::learnt;
      const LanguageModel model(options);
      model.to(DType::f64);
      const NoGrad off_the_tape;
      const auto whole = model.logits(row_of({1, 2, 3, 4, 5, 6})).to_vector<double>();
      Reading reading;
      std::vector<double> parts;
      for (const auto& ids : std::vector<std::vector<std::int64_t>>{{1, 2, 3}, {4}, {5, 6}}) {
        const auto part = model.logits(row_of(ids), reading).to_vector<double>();
        parts.insert(parts.end(), part.begin(), part.end());
      }
      EXPECT_EQ(reading.length(), 6);
      ASSERT_EQ(whole.size(), parts.size());
      for (std::size_t i = 0; i < whole.size(); ++i)
        EXPECT_TRUE(test::close(parts[i], whole[i], test::kDoubleScore));
    }
}

TEST(LanguageModel, SharesItsWeightsBetweenRounds) {
  LanguageModelOptions options = llama();
  const LanguageModel once(options);
  options.rounds = 3;
  const LanguageModel thrice(options);
  EXPECT_EQ(once.parameter_count(), thrice.parameter_count());
  const NoGrad off_the_tape;
  EXPECT_EQ(thrice.weights(row_of({1, 2, 3})).size(), 6u);
}

TEST(LanguageModel, LooksAtNothingThatComesLater) {
  const LanguageModel model(llama());
  const NoGrad off_the_tape;
  for (const Tensor& layer : model.weights(row_of({1, 2, 3, 4}))) {
    const auto weights = layer.to_vector<float>();
    ASSERT_TRUE(layer.shape() == (Shape{1, 4, 4, 4}));
    for (std::size_t row = 0; row < 16; ++row) {
      double sum = 0.0;
      for (std::size_t key = 0; key < 4; ++key) {
        const double weight = static_cast<double>(weights[row * 4 + key]);
        EXPECT_TRUE(key <= row % 4 || weight == 0.0);
        sum += weight;
      }
      EXPECT_TRUE(test::close(sum, 1.0, test::kFloat));
    }
  }
}

TEST(LanguageModel, HasTheGradientsOfDifferences) {
  nn::seed(5);
  const LanguageModel model(llama());
  model.to(DType::f64);
  const Tensor targets = Tensor::from(std::vector<std::int64_t>{2, 3, 0, 5}, {1, 4});
  const auto loss = [&] {
    return cross_entropy(model.logits(row_of({1, 2, 3, 4})), targets, {.ignore_index = 0});
  };
  loss().backward();
  for (const nn::NamedTensor& one : model.named_parameters()) {
    const auto gradient = one.tensor.grad().to_vector<double>();
    const NoGrad off_the_tape;
    const std::size_t at = gradient.size() / 2;
    double* number = one.tensor.mutable_data<double>() + at;
    const double before = *number;
    *number = before + test::kDifferenceStep;
    const double above = loss().item();
    *number = before - test::kDifferenceStep;
    const double below = loss().item();
    *number = before;
    EXPECT_TRUE(test::close(gradient[at], (above - below) / (2.0 * test::kDifferenceStep),
                            test::kDifferenceTolerance))
        << one.name;
  }
}

TEST(LanguageModel, RefusesWhatDoesNotFit) {
  const auto with = [](auto change) {
    LanguageModelOptions options = llama();
    change(options);
    return options;
  };
  for (const LanguageModelOptions& options :
       {with([](auto& o) { o.vocabulary = 0; }), with([](auto& o) { o.heads = 3; }),
        with([](auto& o) { o.key_value_heads = 3; }), with([](auto& o) { o.window = 0; }),
        with([](auto& o) { o.rounds = 0; }), with([](auto& o) { o.heads = 8; }),
        with([](auto& o) { o.dropout = 1.0; })})
    EXPECT_THROW(LanguageModel{options}, InvalidArgument);
  const LanguageModel model(llama());
  EXPECT_THROW(model.logits(row_of(std::vector<std::int64_t>(10, 1))), InvalidArgument);
  EXPECT_THROW(model.logits(Tensor::zeros({1, 2})), InvalidArgument);
}

TEST(NextToken, IsTheLikeliestOrDrawnFromWhatIsLeft) {
  const std::vector<float> logits{9.0f, 1.0f, 3.0f, 3.0f, 2.0f};
  EXPECT_EQ(next_token(logits, {}), 2);  // the pad is never said, of equals the first
  std::map<std::int64_t, int> counts;
  for (std::int64_t step = 0; step < 4000; ++step)
    ++counts[next_token(logits, {.temperature = 1.0, .seed = 7, .step = step})];
  EXPECT_EQ(counts.count(0), 0u);
  // e^3 each of 2 e^3 + e^2 + e.
  EXPECT_NEAR(counts[2] / 4000.0, 0.3994, 0.03);
  EXPECT_NEAR(counts[4] / 4000.0, 0.1470, 0.03);
  for (std::int64_t step = 0; step < 200; ++step) {
    const std::int64_t top = next_token(logits, {.temperature = 5.0, .top = 2, .step = step});
    EXPECT_TRUE(top == 2 || top == 3);
    EXPECT_EQ(next_token(logits, {.temperature = 1.0, .top_p = 0.3, .step = step}), 2);
    EXPECT_EQ(next_token(logits, {.temperature = 0.7, .step = step}),
              next_token(logits, {.temperature = 0.7, .step = step}));
  }
  EXPECT_THROW(next_token(std::vector<float>{1.0f}, {}), InvalidArgument);
}

}  // namespace
}  // namespace attn::models
