#include "attn/models/steering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/models/options.hpp"
#include "attn/models/search.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/support/batches.hpp"
#include "models/support/laws.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

using models::Steering;

struct Case {
  std::string name;
  models::ModelOptions options;
};

models::ModelOptions with(models::Kind kind, void (*change)(models::ModelOptions&)) {
  models::ModelOptions options = test::tiny(kind);
  change(options);
  return options;
}

std::vector<Case> steerable() {
  using models::Kind;
  using Options = models::ModelOptions;
  return {
      {"transformer", test::tiny(Kind::transformer)},
      {"transformer_relative",
       with(Kind::transformer, [](Options& o) { o.positions = models::Positions::relative; })},
      {"transformer_copies",
       with(Kind::transformer, [](Options& o) { o.copy = models::Copy::pointer; })},
      {"transformer_covers",
       with(Kind::transformer, [](Options& o) { o.copy = models::Copy::coverage; })},
      {"bahdanau", test::tiny(Kind::bahdanau)},
      {"bahdanau_copies",
       with(Kind::bahdanau, [](Options& o) { o.copy = models::Copy::pointer; })},
      {"luong_dot", with(Kind::luong, [](Options& o) { o.score = models::Score::dot; })},
      {"luong_concat", with(Kind::luong, [](Options& o) { o.score = models::Score::concat; })},
      {"luong_location",
       with(Kind::luong, [](Options& o) { o.score = models::Score::location; })},
      {"luong_unfed", with(Kind::luong, [](Options& o) { o.feeding = models::Feeding::off; })},
  };
}

class Steered : public testing::TestWithParam<Case> {
 protected:
  Steered() : model_(test::model_laws::used(models::make_model, GetParam().options)) {
    model_->eval();
  }

  /// The weights of three steps that read 4, 5, 6 after the beginning, [steps, source].
  std::vector<std::vector<float>> weights(const Steering& steering) const {
    const Tensor source = test::padded({{4, 5, 6, 7}});
    const auto decoding = model_->decode(source, Tensor::from(test::Tokens{4}, {1}));
    decoding->steer(steering);
    std::vector<std::vector<float>> rows;
    for (const std::int64_t token : {models::kBos, std::int64_t{4}, std::int64_t{5}}) {
      const Tensor row =
          decoding->step(Tensor::from(test::Tokens{token}, {1})).weights.contiguous();
      rows.emplace_back(row.data<float>(), row.data<float>() + row.numel());
    }
    return rows;
  }

  std::shared_ptr<models::Seq2Seq> model_;
};

double sum_of(const std::vector<float>& row) {
  double total = 0.0;
  for (const float weight : row) total += weight;
  return total;
}

TEST_P(Steered, NobodyLooksAtAForbiddenPosition) {
  for (const std::vector<float>& row : weights({.forbid = {1}})) {
    ASSERT_EQ(row.size(), 4u);
    EXPECT_EQ(row[1], 0.0f);
    EXPECT_NEAR(sum_of(row), 1.0, test::kFloatSum);
  }
}

TEST_P(Steered, AForcedStepLooksAtOnePositionAndTheOthersAsBefore) {
  const auto free = weights({});
  const auto forced = weights({.force = {{.step = 1, .position = 2}}});
  EXPECT_EQ(forced[1], (std::vector<float>{0.0f, 0.0f, 1.0f, 0.0f}));
  for (std::size_t place = 0; place < 4; ++place)
    EXPECT_NEAR(forced[0][place], free[0][place], test::kFloatSum);
  EXPECT_GT(sum_of(forced[2]) - forced[2][2], 1e-3) << "step 2 is free again";
}

TEST_P(Steered, ForbiddingTheOthersIsForcing) {
  const auto forbidden = weights({.forbid = {0, 2, 3}});
  const auto forced = weights({.force = {{0, 1}, {1, 1}, {2, 1}}});
  EXPECT_EQ(forbidden, forced);
}

TEST_P(Steered, WithNothingLeftToLookAtWeightsAreZero) {
  for (const std::vector<float>& row : weights({.forbid = {0, 1, 2, 3}}))
    for (const float weight : row) EXPECT_EQ(weight, 0.0f);
}

TEST_P(Steered, TemperatureFlattensAndSharpens) {
  const auto flat = weights({.temperature = 1e6});
  for (const float weight : flat[0]) EXPECT_NEAR(weight, 0.25, test::kFloatTraining);
  double most = 0.0;
  const auto free = weights({});
  const auto sharp = weights({.temperature = 0.2});
  for (std::size_t place = 0; place < 4; ++place) {
    most = std::max<double>(most, sharp[0][place] - free[0][place]);
  }
  EXPECT_GT(most, 0.0);
}

TEST_P(Steered, SearchRefusesWhatASourceDoesNotHave) {
  const Tensor source = test::padded({{4, 5, 6, 7}});
  const Tensor lengths = Tensor::from(test::Tokens{4}, {1});
  for (const Steering& steering :
       {Steering{.forbid = {4}}, Steering{.forbid = {-1}},
        Steering{.force = {{.step = 0, .position = 9}}},
        Steering{.force = {{.step = -1, .position = 0}}}, Steering{.temperature = 0.0}})
    EXPECT_THROW(models::search(*model_, source, lengths, {.steering = steering}),
                 InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Models, Steered, testing::ValuesIn(steerable()),
                         [](const auto& one) { return one.param.name; });

TEST(Steering, AModelThatCannotBeSteeredSaysSo) {
  for (const models::Kind kind : {models::Kind::rnn, models::Kind::convolutional}) {
    const auto model = test::model_laws::used(models::make_model, test::tiny(kind));
    const auto decoding =
        model->decode(test::padded({{4, 5}}), Tensor::from(test::Tokens{2}, {1}));
    EXPECT_NO_THROW(decoding->steer({}));
    EXPECT_THROW(decoding->steer({.forbid = {0}}), InvalidArgument);
  }
}

TEST(Heads, TheLastLayersMeanIsWhatADecodingTells) {
  for (const models::Positions positions :
       {models::Positions::sinusoidal, models::Positions::rotary,
        models::Positions::relative}) {
    models::ModelOptions options = test::tiny(models::Kind::transformer);
    options.positions = positions;
    const auto model = test::model_laws::used(models::make_model, options);
    model->eval();
    const Steering steering{
        .temperature = 2.0, .forbid = {3}, .force = {{.step = 1, .position = 0}}};
    const models::Batch batch = test::batch_of({{{4, 5, 6, 7}, {6, 5}}});
    const std::vector<models::Head> heads = model->heads(batch, steering);
    ASSERT_EQ(heads.size(), 2u * 2u * 3u) << "two heads of two layers in three parts";

    const auto decoding = model->decode(batch.source, batch.source_lengths);
    decoding->steer(steering);
    std::int64_t step = 0;
    for (const std::int64_t token : {models::kBos, std::int64_t{6}, std::int64_t{5}}) {
      const Tensor told = decoding->step(Tensor::from(test::Tokens{token}, {1})).weights;
      for (std::int64_t place = 0; place < 4; ++place) {
        double mean = 0.0;
        for (const models::Head& head : heads)
          if (head.part == models::Head::Part::cross && head.layer == 1)
            mean += head.weights.select(1, step).select(1, place).to(DType::f64).item() / 2.0;
        EXPECT_NEAR(told.select(1, place).item(), mean, test::kFloatSum);
      }
      ++step;
    }
  }
}

TEST(Heads, TheDecoderSeesNoFutureAndRowsSumToOne) {
  const auto model =
      test::model_laws::used(models::make_model, test::tiny(models::Kind::transformer));
  model->eval();
  for (const models::Head& head : model->heads(test::batch_of({{{4, 5, 6}, {6, 5}}}))) {
    const Tensor weights = head.weights.contiguous();
    for (std::int64_t query = 0; query < weights.size(1); ++query) {
      double total = 0.0;
      for (std::int64_t key = 0; key < weights.size(2); ++key) {
        const float weight = weights.data<float>()[query * weights.size(2) + key];
        total += weight;
        const bool future = head.part == models::Head::Part::decoder && key > query;
        EXPECT_TRUE(!future || weight == 0.0f);
      }
      EXPECT_NEAR(total, 1.0, test::kFloatSum);
    }
  }
  const auto rnn = test::model_laws::used(models::make_model, test::tiny(models::Kind::rnn));
  EXPECT_TRUE(rnn->heads(test::batch_of(test::some_pairs())).empty());
}

}  // namespace
}  // namespace attn
