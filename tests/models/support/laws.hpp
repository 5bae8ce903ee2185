/// The laws of every sequence-to-sequence model:
///
///     test::expect_model_laws(models::make_rnn, test::tiny(models::Kind::rnn));

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/optimiser.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/support/batches.hpp"
#include "support/tolerance.hpp"

namespace attn::test {

using MakeModel = std::function<std::shared_ptr<models::Seq2Seq>(const models::ModelOptions&)>;

namespace model_laws {

/// A log-probability passes through some thousand roundings in any of these models.
inline const double kWithin = tolerance(DType::f32, 4096);

/// A model as after some training: nothing is at its first value, which may be 0.
inline std::shared_ptr<models::Seq2Seq> used(const MakeModel& make,
                                             const models::ModelOptions& options) {
  nn::seed(11);
  const auto model = make(options);
  for (const Tensor& parameter : model->parameters()) {
    const std::vector<float> noise =
        normal(parameter.shape(), 0.0, 0.2, nn::random()).to_vector<float>();
    auto* numbers = parameter.mutable_data<float>();
    for (std::size_t i = 0; i < noise.size(); ++i) numbers[i] += noise[i];
  }
  model->eval();
  return model;
}

inline double loss_of(const models::Seq2Seq& model, const models::Batch& batch,
                      const models::LossOptions& options = {}) {
  const NoGrad off_the_tape;
  return model.loss(batch, options).item();
}

/// The batch with one target alone that counts.
inline models::Batch only_target(const models::Batch& batch, std::size_t step) {
  Tokens target = batch.target.to_vector<std::int64_t>();
  for (std::size_t t = 0; t < target.size(); ++t)
    if (t != step) target[t] = models::kPad;
  return {batch.source, batch.source_lengths, batch.input,
          Tensor::from(target, batch.target.shape())};
}

inline void steps_equal_teacher_forcing(const models::Seq2Seq& model) {
  const std::vector<Pair> pairs = some_pairs();
  const models::Batch batch = batch_of(pairs);
  const auto decoding = model.decode(batch.source, batch.source_lengths);
  for (std::int64_t step = 0; step < batch.input.size(1); ++step) {
    const models::Prediction believed = decoding->step(batch.input.select(1, step));
    const auto said = believed.log_probabilities.to_vector<float>();
    for (std::size_t row = 0; row < pairs.size(); ++row) {
      double sum = 0.0;
      for (std::int64_t word = 0; word < kVocabulary; ++word)
        sum += std::exp(static_cast<double>(said[row * kVocabulary + word]));
      EXPECT_TRUE(close(sum, 1.0, kWithin)) << "row " << row << ", step " << step;
      if (static_cast<std::size_t>(step) > pairs[row].target.size()) continue;
      const models::Batch alone =
          only_target(batch_of({pairs[row]}), static_cast<std::size_t>(step));
      const auto word = static_cast<std::size_t>(alone.target.select(1, step).item());
      EXPECT_TRUE(close(-static_cast<double>(said[row * kVocabulary + word]),
                        loss_of(model, alone), kWithin))
          << "row " << row << ", step " << step;
    }
  }
}

inline void padding_changes_nothing(const models::Seq2Seq& model) {
  for (const models::LossOptions& options :
       {models::LossOptions{}, models::LossOptions{.smoothing = 0.1, .coverage = 0.7}}) {
    const double want = loss_of(model, batch_of(some_pairs()), options);
    EXPECT_TRUE(close(loss_of(model, batch_of(some_pairs(), 3, 0), options), want, kWithin));
    EXPECT_TRUE(close(loss_of(model, batch_of(some_pairs(), 0, 2), options), want, kWithin));
  }
}

inline void batch_equals_its_rows(const models::Seq2Seq& model) {
  for (const models::LossOptions& options :
       {models::LossOptions{}, models::LossOptions{.smoothing = 0.1, .coverage = 0.7}}) {
    double total = 0.0;
    double tokens = 0.0;
    for (const Pair& pair : some_pairs()) {
      const auto counted = static_cast<double>(pair.target.size() + 1);
      total += counted * loss_of(model, batch_of({pair}), options);
      tokens += counted;
    }
    EXPECT_TRUE(
        close(loss_of(model, batch_of(some_pairs()), options), total / tokens, kWithin));
  }
}

inline void rows_count_by_their_weights(const models::Seq2Seq& model) {
  const std::vector<Pair> pairs = some_pairs();
  models::Batch batch = batch_of(pairs);
  const std::vector<float> weights{0.5f, -2.0f, 0.0f};
  batch.weights = Tensor::from(weights, {3});
  double sum = 0.0;
  double tokens = 0.0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto count = static_cast<double>(pairs[i].target.size() + 1);
    sum += count * static_cast<double>(weights[i]) * loss_of(model, batch_of({pairs[i]}));
    tokens += count;
  }
  EXPECT_TRUE(close(loss_of(model, batch), sum / tokens, kWithin));
}

inline void expect_rows(const Tensor& got, const Tensor& from, const Tokens& rows) {
  ASSERT_EQ(got.defined(), from.defined());
  if (!got.defined()) return;
  const auto numbers = got.to_vector<float>();
  const auto wanted = from.to_vector<float>();
  const auto width = static_cast<std::size_t>(from.size(1));
  ASSERT_EQ(numbers.size(), rows.size() * width);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows[i / width]);
    EXPECT_TRUE(close(numbers[i], wanted[row * width + i % width], kWithin))
        << "row " << i / width << ", column " << i % width;
  }
}

/// Rows taken twice, left out and in another order go on as they would have; the second choice
/// is among the rows of the first.
inline void select_chooses_rows(const models::Seq2Seq& model) {
  const models::Batch batch = batch_of(some_pairs());
  const auto plain = model.decode(batch.source, batch.source_lengths);
  const auto chosen = model.decode(batch.source, batch.source_lengths);
  const std::vector<Tokens> read = {{1, 1, 1}, {4, 5, 6}, {7, 8, 4}, {5, 4, 4}};
  const std::vector<Tokens> choices = {{0, 1, 2}, {2, 0, 0, 1}, {1, 0, 3}, {2}};
  Tokens rows = {0, 1, 2};
  for (std::size_t step = 0; step < read.size(); ++step) {
    Tokens next, tokens;
    for (const std::int64_t row : choices[step]) {
      next.push_back(rows[static_cast<std::size_t>(row)]);
      tokens.push_back(read[step][static_cast<std::size_t>(next.back())]);
    }
    rows = next;
    const auto count = static_cast<std::int64_t>(rows.size());
    if (step > 0) chosen->select(Tensor::from(choices[step], {count}));
    const models::Prediction want = plain->step(Tensor::from(read[step], {3}));
    const models::Prediction got = chosen->step(Tensor::from(tokens, {count}));
    SCOPED_TRACE("step " + std::to_string(step));
    expect_rows(got.log_probabilities, want.log_probabilities, rows);
    expect_rows(got.weights, want.weights, rows);
  }
}

inline void weights_are_shares_of_the_source(const models::Seq2Seq& model) {
  const models::Batch batch = batch_of(some_pairs());
  const auto lengths = batch.source_lengths.to_vector<std::int64_t>();
  const std::int64_t extent = batch.source.size(1);
  const auto decoding = model.decode(batch.source, batch.source_lengths);
  for (std::int64_t step = 0; step < batch.input.size(1); ++step) {
    const Tensor weights = decoding->step(batch.input.select(1, step)).weights;
    if (!weights.defined()) return;
    ASSERT_EQ(weights.shape(), (Shape{batch.source.size(0), extent}));
    const auto numbers = weights.to_vector<float>();
    for (std::size_t row = 0; row < lengths.size(); ++row) {
      double sum = 0.0;
      for (std::int64_t place = 0; place < extent; ++place) {
        const double weight =
            numbers[row * static_cast<std::size_t>(extent) + static_cast<std::size_t>(place)];
        EXPECT_GE(weight, 0.0);
        EXPECT_TRUE(weight == 0.0 || place < lengths[row]) << "past the length, row " << row;
        sum += weight;
      }
      EXPECT_LE(sum, 1.0 + kWithin) << "row " << row << ", step " << step;
    }
  }
}

inline bool all_finite(const Tensor& x) {
  const auto numbers = x.to_vector<float>();
  return std::all_of(numbers.begin(), numbers.end(), [](float n) { return std::isfinite(n); });
}

inline void every_parameter_learns(const models::Seq2Seq& model) {
  model.zero_grad();
  model.loss(batch_of(some_pairs()), {.smoothing = 0.1, .coverage = 0.7}).backward();
  for (const auto& [name, parameter] : model.named_parameters()) {
    ASSERT_TRUE(parameter.grad().defined()) << name << " gets no gradient";
    EXPECT_TRUE(all_finite(parameter.grad())) << name;
    const auto grad = parameter.grad().to_vector<float>();
    EXPECT_TRUE(std::any_of(grad.begin(), grad.end(), [](float g) { return g != 0.0f; }))
        << name << " has a gradient of zeros";
  }
}

/// An empty row beside another, and a batch of empty rows alone, whose source has no places.
inline void empty_source_is_finite(const models::Seq2Seq& model) {
  for (const Tokens& second : {Tokens{6, 7}, Tokens{}}) {
    const models::Batch batch = batch_of({{{}, {4, 5}}, {second, {7}}});
    model.zero_grad();
    const Tensor loss = model.loss(batch, {.coverage = 0.7});
    EXPECT_TRUE(std::isfinite(loss.item()));
    loss.backward();
    for (const auto& [name, parameter] : model.named_parameters())
      EXPECT_TRUE(!parameter.grad().defined() || all_finite(parameter.grad())) << name;
    const auto decoding = model.decode(batch.source, batch.source_lengths);
    for (std::int64_t step = 0; step < batch.input.size(1); ++step)
      EXPECT_TRUE(all_finite(decoding->step(batch.input.select(1, step)).log_probabilities));
  }
}

inline void dropout_is_for_training(models::Seq2Seq& model) {
  const models::Batch batch = batch_of(some_pairs());
  EXPECT_EQ(loss_of(model, batch), loss_of(model, batch));
  model.train();
  EXPECT_NE(loss_of(model, batch), loss_of(model, batch));
  model.eval();
}

/// The tape against central differences at some numbers of every parameter. The model is in
/// double afterwards.
inline void gradients_equal_differences(const models::Seq2Seq& model) {
  constexpr std::size_t kNumbers = 3;  // of each parameter
  const models::LossOptions options{.smoothing = 0.1, .coverage = 0.7};
  const models::Batch batch = batch_of(some_pairs());
  model.to(DType::f64);
  model.zero_grad();
  model.loss(batch, options).backward();
  for (const auto& [name, parameter] : model.named_parameters()) {
    ASSERT_TRUE(parameter.grad().defined()) << name << " gets no gradient";
    const auto tape = parameter.grad().to_vector<double>();
    // The largest: a number that does not take part would show nothing.
    std::vector<std::size_t> places(tape.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
    std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
      return std::fabs(tape[a]) > std::fabs(tape[b]);
    });
    places.resize(std::min(places.size(), kNumbers));
    auto* numbers = parameter.mutable_data<double>();
    for (const std::size_t place : places) {
      const double kept = numbers[place];
      numbers[place] = kept + kDifferenceStep;
      const double above = loss_of(model, batch, options);
      numbers[place] = kept - kDifferenceStep;
      const double below = loss_of(model, batch, options);
      numbers[place] = kept;
      EXPECT_TRUE(
          close(tape[place], (above - below) / (2 * kDifferenceStep), kDifferenceTolerance))
          << name << " at " << place;
    }
  }
}

}  // namespace model_laws

/// All but that it learns. `options` need dropout.
inline void expect_model_laws(const MakeModel& make, const models::ModelOptions& options) {
  const auto model = model_laws::used(make, options);
  model_laws::steps_equal_teacher_forcing(*model);
  model_laws::padding_changes_nothing(*model);
  model_laws::batch_equals_its_rows(*model);
  model_laws::rows_count_by_their_weights(*model);
  model_laws::select_chooses_rows(*model);
  model_laws::weights_are_shares_of_the_source(*model);
  model_laws::every_parameter_learns(*model);
  model_laws::empty_source_is_finite(*model);
  model_laws::dropout_is_for_training(*model);
  model_laws::gradients_equal_differences(*model);
}

/// What a model that attends reaches on words of up to six letters within 200 steps, and one
/// without attention does not.
inline constexpr double kLearnt = 0.2;

struct LearnOptions {
  int steps = 200;
  double rate = 0.003;
  std::int64_t longest = 6;
};

/// Adam on fresh words; the mean loss of the last ten steps.
inline double learnt_loss(const MakeModel& make, const models::ModelOptions& options,
                          const std::function<Tokens(Tokens)>& answer,
                          const LearnOptions& learn = {}) {
  constexpr int kLast = 10;
  constexpr std::size_t kWords = 16;
  nn::seed(7);
  const auto model = make(options);
  nn::Adam adam(*model);
  double last = 0.0;
  for (int step = 0; step < learn.steps; ++step) {
    const Tensor loss = model->loss(draw_batch(kWords, learn.longest, answer));
    if (step >= learn.steps - kLast) last += loss.item() / kLast;
    adam.zero_grad();
    loss.backward();
    adam.step(learn.rate);
  }
  return last;
}

}  // namespace attn::test
