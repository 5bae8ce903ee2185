// Learnt scores find the key that equals the query.

#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include "attn/nn/attention/additive_score.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/score/luong_scores.hpp"
#include "nn/score/recall.hpp"

namespace attn::test {
namespace {

constexpr double kBound = 0.1;
constexpr int kSteps = 150;
constexpr double kRate = 0.05;

template <class Module>
void expect_recall(const Module& module) {
  expect_learns(
      kBound,
      [&] {
        return train_recall(module, kSteps, kRate, [&](const Recall& batch) {
          return module.forward(batch.queries, batch.keys, batch.values).output;
        });
      },
      [] { return train_recall_without(kSteps, kRate); });
}

TEST(GeneralAttention, LearnsToRecall) {
  nn::seed(1);
  expect_recall(nn::GeneralAttention({.query_dim = 4, .key_dim = 4}));
}

TEST(ConcatAttention, LearnsToRecall) {
  nn::seed(1);
  expect_recall(nn::ConcatAttention({.query_dim = 4, .key_dim = 4, .hidden_dim = 16}));
}

TEST(AdditiveScore, LearnsToRecall) {
  nn::seed(1);
  expect_recall(nn::AdditiveScore({.query_dim = 4, .key_dim = 4, .hidden_dim = 16}));
}

TEST(LocationAttention, LearnsToLookWhereItIsTold) {
  nn::seed(1);
  const nn::LocationAttention module({.query_dim = 4, .max_keys = 6});
  expect_learns(
      kBound,
      [&] {
        return train_recall(module, kSteps, kRate, [&](const Recall& batch) {
          return module.forward(batch.positions, batch.values).output;
        });
      },
      [] { return train_recall_without(kSteps, kRate); });
}

}  // namespace
}  // namespace attn::test
