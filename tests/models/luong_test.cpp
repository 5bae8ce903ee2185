// Luong's model: the laws of models for every score and locality, windows, learning.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "attn/core/error.hpp"
#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/kinds.hpp"
#include "models/support/batches.hpp"
#include "models/support/laws.hpp"
#include "support/tolerance.hpp"

namespace attn::models {
namespace {

ModelOptions luong(Score score, Locality locality, Feeding feeding) {
  ModelOptions options = test::tiny(Kind::luong);
  options.score = score;
  options.locality = locality;
  options.feeding = feeding;
  options.window = 2;
  return options;
}

constexpr std::initializer_list<Score> kScores = {Score::dot, Score::general, Score::concat,
                                                  Score::location};

void expect_laws(Locality locality, std::initializer_list<Score> scores) {
  for (const Score score : scores)
    for (const Feeding feeding : {Feeding::off, Feeding::on}) {
      SCOPED_TRACE("score " + std::to_string(static_cast<int>(score)) + ", feeding " +
                   std::to_string(static_cast<int>(feeding)));
      test::expect_model_laws(make_luong, luong(score, locality, feeding));
    }
}

TEST(LuongModel, KeepsTheLawsOfModelsGlobally) {
  expect_laws(Locality::global, kScores);
}
TEST(LuongModel, KeepsTheLawsOfModelsInAMovingWindow) {
  expect_laws(Locality::monotonic, {Score::general, Score::location});
}
TEST(LuongModel, KeepsTheLawsOfModelsAroundAPredictedPlace) {
  expect_laws(Locality::predictive, {Score::dot, Score::concat});
}

/// A window as wide as the source sees what the global attention sees, which is another path.
TEST(LuongModel, AWideMovingWindowIsGlobal) {
  for (const Score score : kScores)
    for (const Feeding feeding : {Feeding::off, Feeding::on}) {
      ModelOptions options = luong(score, Locality::global, feeding);
      const auto global = test::model_laws::used(make_luong, options);
      options.locality = Locality::monotonic;
      options.window = 20;
      const auto local = test::model_laws::used(make_luong, options);
      const Batch batch = test::batch_of(test::some_pairs());
      EXPECT_TRUE(test::close(test::model_laws::loss_of(*local, batch),
                              test::model_laws::loss_of(*global, batch),
                              test::model_laws::kWithin))
          << "score " << static_cast<int>(score);
    }
}

TEST(LuongModel, AMovingWindowMovesOnePlaceAStep) {
  ModelOptions options = luong(Score::dot, Locality::monotonic, Feeding::on);
  options.window = 1;
  const auto model = test::model_laws::used(make_luong, options);
  const Batch batch = test::batch_of({{{4, 5, 6, 7, 8}, {4, 5, 6, 7, 8, 4, 5}}});
  const auto decoding = model->decode(batch.source, batch.source_lengths);
  for (std::int64_t step = 0; step < batch.input.size(1); ++step) {
    const auto weights = decoding->step(batch.input.select(1, step)).weights.to_vector<float>();
    for (std::int64_t place = 0; place < 5; ++place)
      EXPECT_EQ(weights[static_cast<std::size_t>(place)] > 0.0f,
                place >= step - 1 && place <= step + 1)
          << "step " << step << ", place " << place;
  }
}

TEST(LuongModel, LocationsEndAtTheLongestSource) {
  ModelOptions options = luong(Score::location, Locality::global, Feeding::on);
  options.max_source = 3;
  nn::seed(1);
  const auto model = make_luong(options);
  EXPECT_THROW(model->loss(test::batch_of({{{4, 5, 6, 7}, {4}}})), InvalidArgument);
}

TEST(LuongModel, LearnsToReverse) {
  for (const Score score : {Score::general, Score::concat}) {
    ModelOptions options = luong(score, Locality::global, Feeding::on);
    options.dim = 32;
    options.dropout = 0.0;
    EXPECT_LT(test::learnt_loss(make_luong, options, test::reversed), test::kLearnt);
  }
}

TEST(LuongModel, LearnsToCopyFromWindows) {
  for (const Locality locality : {Locality::monotonic, Locality::predictive}) {
    ModelOptions options = luong(Score::general, locality, Feeding::off);
    options.dim = 32;
    options.dropout = 0.0;
    EXPECT_LT(test::learnt_loss(make_luong, options, test::same), test::kLearnt);
  }
}

}  // namespace
}  // namespace attn::models
