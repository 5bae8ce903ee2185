// One row of a head, step by step: scores, mask, weights and output agree with the model.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/models/steering.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/support/batches.hpp"
#include "models/support/laws.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

using models::HeadPlace;
using models::HeadRow;
using models::Steering;
using Part = models::Head::Part;

struct Case {
  std::string name;
  models::ModelOptions options;
};

models::ModelOptions with(models::Kind kind, void (*change)(models::ModelOptions&)) {
  models::ModelOptions options = test::tiny(kind);
  change(options);
  return options;
}

std::vector<Case> attending() {
  using models::Kind;
  using Options = models::ModelOptions;
  return {
      {"transformer", test::tiny(Kind::transformer)},
      {"transformer_relative",
       with(Kind::transformer, [](Options& o) { o.positions = models::Positions::relative; })},
      {"transformer_rotary",
       with(Kind::transformer, [](Options& o) { o.positions = models::Positions::rotary; })},
      {"bahdanau", test::tiny(Kind::bahdanau)},
      {"luong_dot", with(Kind::luong, [](Options& o) { o.score = models::Score::dot; })},
      {"luong_general",
       with(Kind::luong, [](Options& o) { o.score = models::Score::general; })},
      {"luong_concat", with(Kind::luong, [](Options& o) { o.score = models::Score::concat; })},
      {"luong_location",
       with(Kind::luong, [](Options& o) { o.score = models::Score::location; })},
      {"luong_unfed", with(Kind::luong, [](Options& o) { o.feeding = models::Feeding::off; })},
      {"luong_monotonic",
       with(Kind::luong, [](Options& o) { o.locality = models::Locality::monotonic; })},
      {"luong_predictive",
       with(Kind::luong, [](Options& o) { o.locality = models::Locality::predictive; })},
  };
}

models::Batch one_pair() {
  return {.source = test::padded({{4, 5, 6, 7, 2}}),
          .source_lengths = Tensor::from(test::Tokens{5}, {1}),
          .input = test::padded({{models::kBos, 4, 5}}),
          .target = test::padded({{4, 5, models::kEos}})};
}

class HeadRows : public testing::TestWithParam<Case> {
 protected:
  HeadRows() : model_(test::model_laws::used(models::make_model, GetParam().options)) {}

  /// Calls check(place, row, steps) for every row of every head.
  template <class Check>
  void each(const Steering& steering, const Check& check) const {
    const models::Batch batch = one_pair();
    const std::vector<HeadPlace> places = model_->head_places();
    ASSERT_FALSE(places.empty());
    for (const HeadPlace& place : places) {
      const std::int64_t rows = place.part == Part::encoder ? 5 : 3;
      for (std::int64_t row = 0; row < rows; ++row)
        check(place, row, model_->head_row(batch, place, row, steering));
    }
  }

  std::shared_ptr<models::Seq2Seq> model_;
};

TEST_P(HeadRows, SoftmaxOfTheOpenScoresIsTheWeights) {
  for (const Steering& steering :
       {Steering{}, Steering{.temperature = 0.5, .forbid = {1}, .force = {{1, 2}}}})
    each(steering, [](const HeadPlace&, std::int64_t row, const HeadRow& steps) {
      const auto scores = steps.scores.to_vector<double>();
      const auto weights = steps.weights.to_vector<float>();
      const bool* open = steps.open.data<bool>();
      double sum = 0.0;
      for (std::size_t j = 0; j < scores.size(); ++j) sum += open[j] ? std::exp(scores[j]) : 0;
      ASSERT_GT(sum, 0.0);
      for (std::size_t j = 0; j < scores.size(); ++j) {
        double want = open[j] ? std::exp(scores[j]) / sum : 0.0;
        if (steps.factors.defined()) want *= steps.factors.data<double>()[j];
        EXPECT_NEAR(weights[j], want, test::kFloat) << "row " << row << ", key " << j;
      }
    });
}

TEST_P(HeadRows, WeightsTimesValuesIsTheOutput) {
  each({}, [](const HeadPlace&, std::int64_t row, const HeadRow& steps) {
    const auto weights = steps.weights.to_vector<float>();
    const auto values = steps.values.to_vector<float>();
    const auto output = steps.output.to_vector<float>();
    ASSERT_EQ(values.size(), weights.size() * output.size());
    for (std::size_t c = 0; c < output.size(); ++c) {
      double sum = 0.0;
      for (std::size_t j = 0; j < weights.size(); ++j)
        sum += static_cast<double>(weights[j]) *
               static_cast<double>(values[j * output.size() + c]);
      EXPECT_NEAR(output[c], sum, test::kFloatSum) << "row " << row << ", channel " << c;
    }
  });
}

TEST_P(HeadRows, TheMaskIsTheModelsOwn) {
  each({.forbid = {3}}, [](const HeadPlace& place, std::int64_t row, const HeadRow& steps) {
    const bool* open = steps.open.data<bool>();
    if (place.part == Part::cross) {
      EXPECT_FALSE(open[3]);
    } else if (place.part == Part::encoder) {
      EXPECT_TRUE(open[3]);
    } else {
      for (std::int64_t j = 0; j < 3; ++j) EXPECT_EQ(open[j], j <= row);
    }
  });
}

TEST_P(HeadRows, AreTheRowsOfHeads) {
  const Steering steering{.temperature = 2.0, .forbid = {0}};
  const std::vector<models::Head> heads = model_->heads(one_pair(), steering);
  if (GetParam().options.kind != models::Kind::transformer) {
    EXPECT_TRUE(heads.empty());
    return;
  }
  ASSERT_EQ(heads.size(), model_->head_places().size());
  std::size_t next = 0;
  std::int64_t last = -1;
  each(steering, [&](const HeadPlace& place, std::int64_t row, const HeadRow& steps) {
    if (row <= last) ++next;
    last = row;
    ASSERT_EQ(heads[next].part, place.part);
    const auto want = heads[next].weights.select(0, 0).select(0, row).to_vector<float>();
    const auto seen = steps.weights.to_vector<float>();
    for (std::size_t j = 0; j < want.size(); ++j) EXPECT_NEAR(seen[j], want[j], test::kFloat);
  });
}

TEST_P(HeadRows, AreThoseOfTheDecoding) {
  if (GetParam().options.kind == models::Kind::transformer) return;  // one of several heads
  const models::Batch batch = one_pair();
  for (const Steering& steering :
       {Steering{}, Steering{.temperature = 0.5, .forbid = {1}, .force = {{1, 2}}}}) {
    const auto decoding = model_->decode(batch.source, batch.source_lengths);
    decoding->steer(steering);
    for (std::int64_t row = 0; row < 3; ++row) {
      const auto want = decoding->step(batch.input.select(1, row)).weights.to_vector<float>();
      const auto seen = model_->head_row(batch, {}, row, steering).weights.to_vector<float>();
      for (std::size_t j = 0; j < want.size(); ++j)
        EXPECT_NEAR(seen[j], want[j], test::kFloat) << "row " << row << ", key " << j;
    }
  }
}

TEST_P(HeadRows, WhatIsNotThereIsRefused) {
  const models::Batch batch = one_pair();
  for (const std::int64_t row : {-1, 3})
    EXPECT_THROW(model_->head_row(batch, {}, row), InvalidArgument);
  EXPECT_THROW(model_->head_row(batch, {.part = Part::cross, .layer = 9}, 0), InvalidArgument);
  EXPECT_THROW(model_->head_row(batch, {.part = Part::cross, .head = -1}, 0), InvalidArgument);
  EXPECT_THROW(model_->head_row(batch, {}, 0, {.forbid = {9}}), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Models, HeadRows, testing::ValuesIn(attending()),
                         [](const auto& one) { return one.param.name; });

TEST(HeadRow, AModelWithoutAttentionSaysSo) {
  const auto model = test::model_laws::used(models::make_model, test::tiny(models::Kind::rnn));
  EXPECT_TRUE(model->head_places().empty());
  EXPECT_THROW(model->head_row(one_pair(), {}, 0), InvalidArgument);
}

}  // namespace
}  // namespace attn
