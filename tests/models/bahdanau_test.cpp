// Bahdanau's model: the laws of models, copying, learning.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/kinds.hpp"
#include "models/support/batches.hpp"
#include "models/support/laws.hpp"
#include "support/tolerance.hpp"

namespace attn::models {
namespace {

ModelOptions copying(Copy copy) {
  ModelOptions options = test::tiny(Kind::bahdanau);
  options.copy = copy;
  options.tie = Tie::all;
  return options;
}

TEST(BahdanauModel, KeepsTheLawsOfModels) {
  ModelOptions options = test::tiny(Kind::bahdanau);
  test::expect_model_laws(make_bahdanau, options);
  options.decoder_layers = 1;
  options.tie = Tie::none;
  test::expect_model_laws(make_bahdanau, options);
}

TEST(BahdanauModel, KeepsTheLawsWhenItCopies) {
  test::expect_model_laws(make_bahdanau, copying(Copy::pointer));
  test::expect_model_laws(make_bahdanau, copying(Copy::coverage));
}

TEST(BahdanauModel, LearnsToReverse) {
  ModelOptions options = test::tiny(Kind::bahdanau);
  options.dim = 32;
  options.dropout = 0.0;
  EXPECT_LT(test::learnt_loss(make_bahdanau, options, test::reversed), test::kLearnt);
}

TEST(BahdanauModel, LearnsToCopyWithAPointer) {
  ModelOptions options = copying(Copy::pointer);
  options.dim = 32;
  options.dropout = 0.0;
  EXPECT_LT(test::learnt_loss(make_bahdanau, options, test::same), test::kLearnt);
}

/// A gate that never generates leaves what the source has, and nothing else.
TEST(BahdanauModel, CopiesOnlyWhatTheSourceHas) {
  const auto model = test::model_laws::used(make_bahdanau, copying(Copy::pointer));
  nn::find_tensor(model->named_parameters(), "copy.pointer.gen_b").mutable_data<float>()[0] =
      -60.0f;
  const Batch batch = test::batch_of({{{4, 6, 4}, {5}}});
  const auto decoding = model->decode(batch.source, batch.source_lengths);
  const Prediction believed = decoding->step(batch.input.select(1, 0));
  const auto weights = believed.weights.to_vector<float>();
  const auto said = believed.log_probabilities.to_vector<float>();
  const auto share = [&](std::size_t word) {
    return std::exp(static_cast<double>(said[word]));
  };
  const double within = test::tolerance(DType::f32, 16);
  EXPECT_TRUE(test::close(share(4), weights[0] + weights[2], within));
  EXPECT_TRUE(test::close(share(6), weights[1], within));
  EXPECT_TRUE(test::close(share(5), 0.0, within));
}

/// Until it is trained coverage is the pointer, so that it can be switched on late.
TEST(BahdanauModel, CoverageBeginsAsThePointer) {
  nn::seed(3);
  const auto with = make_bahdanau(copying(Copy::coverage));
  with->eval();
  const Batch batch = test::batch_of(test::some_pairs());
  const LossOptions off{};
  const LossOptions on{.coverage = 1e-9};  // the slow way, without its loss
  EXPECT_TRUE(test::close(test::model_laws::loss_of(*with, batch, on),
                          test::model_laws::loss_of(*with, batch, off),
                          test::model_laws::kWithin));
  const LossOptions loud{.coverage = 1.0};
  EXPECT_GT(test::model_laws::loss_of(*with, batch, loud),
            test::model_laws::loss_of(*with, batch, off) + 0.01);
}

TEST(BahdanauModel, CopyingNeedsOneVocabulary) {
  ModelOptions options = copying(Copy::pointer);
  options.source_vocabulary += 1;
  EXPECT_THROW(make_bahdanau(options), InvalidArgument);
}

}  // namespace
}  // namespace attn::models
