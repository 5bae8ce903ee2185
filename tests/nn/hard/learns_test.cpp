#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/hard/doubly_stochastic.hpp"
#include "attn/nn/mechanisms/hard/hard_attention.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/support/lookup.hpp"
#include "nn/support/tasks.hpp"

namespace attn::test {
namespace {

constexpr std::int64_t kBatch = 32;
constexpr std::int64_t kCount = 3;

/// Scores of items by a query, and what reads the annotation that was chosen.
struct Reader : nn::Module {
  Reader()
      : match(add("match", nn::Linear({2 * kCount, kCount, nn::Bias::none}))),
        out(add("out", nn::Linear({2 * kCount, kCount}))) {}

  Tensor scores(const Tensor& query, const Tensor& items) const {
    return matmul(query.unsqueeze(1), match(items).transpose(1, 2));
  }
  /// log p of the answer, [batch].
  Tensor log_py(const Tensor& context, const Tensor& answer) const {
    const Tensor all = log_softmax(out(context.squeeze(1)));
    return gather(all, 1, answer.unsqueeze(1)).squeeze(1);
  }

  nn::Linear match;
  nn::Linear out;
};

/// The loss of the most probable location after training on draws alone: the scores have no
/// other gradient than that of the reward.
double train_hard(bool attends, double reward_weight) {
  const Reader reader;
  nn::HardAttention attention(
      attn::Random(5).named("hard"),
      {.reinforce = {.lambda_r = reward_weight}, .soft_probability = 0.0});
  const auto look = [&](const Lookup& task) {
    const Tensor items = attends ? task.items : blurred(task.items);
    const Tensor scores = reader.scores(task.query, items);
    const auto step = attention.forward(scores, items);
    const Tensor log_py = reader.log_py(step.context, task.answer);
    return attention.training() ? attention.loss(step, scores, log_py) : neg(mean(log_py));
  };
  train(reader, 250, 0.05, [&] { return look(make_lookup(kBatch, kCount)); });
  attention.eval();
  return look(make_lookup(4 * kBatch, kCount)).item();
}

TEST(HardAttention, LearnsFromItsDraws) {
  expect_learns(
      0.3, [] { return train_hard(true, 1.0); }, [] { return train_hard(false, 1.0); });
}

TEST(HardAttention, LearnsFromTheReward) {
  expect_learns(
      0.3, [] { return train_hard(true, 1.0); }, [] { return train_hard(true, 0.0); });
}

struct Gated : nn::Module {
  explicit Gated(std::int64_t hidden)
      : match(add("match", nn::Linear({2 * kCount, kCount, nn::Bias::none}))),
        out(add("out", nn::Linear({2 * kCount, kCount + 1}))),
        attention(add("attention", nn::DoublyStochasticAttention(hidden))) {}
  nn::Linear match;
  nn::Linear out;
  nn::DoublyStochasticAttention attention;
};

/// Half of the rows are not to look: theirs is the class behind the others. The query does not
/// tell, the hidden state does, so only the gate can.
double train_gate(bool knows_whether, bool attends) {
  const Gated model(1);
  std::vector<float> looks;
  for (std::int64_t b = 0; b < kBatch; ++b) looks.push_back(b % 2 == 0 ? 1.0f : -1.0f);
  const Tensor whether = Tensor::from(looks, {kBatch, 1, 1});
  return train(model, 400, 0.05, [&] {
    const Lookup task = make_lookup(kBatch, kCount);
    const Tensor items = attends ? task.items : blurred(task.items);
    const Tensor scores = matmul(task.query.unsqueeze(1), model.match(items).transpose(1, 2));
    const Tensor context =
        model.attention
            .forward({.scores = scores,
                      .annotations = items,
                      .hidden = knows_whether ? whether : Tensor::zeros({kBatch, 1, 1})})
            .context;
    std::vector<std::int64_t> answers = task.answer.to_vector<std::int64_t>();
    for (std::size_t b = 1; b < answers.size(); b += 2) answers[b] = kCount;
    return cross_entropy(model.out(context.squeeze(1)), Tensor::from(answers, {kBatch}));
  });
}

TEST(DoublyStochasticAttention, LearnsWhetherToLook) {
  expect_learns(
      0.2, [] { return train_gate(true, true); }, [] { return train_gate(true, false); });
  expect_learns(
      0.2, [] { return train_gate(true, true); }, [] { return train_gate(false, true); });
}

/// Two steps and two places: the first step's word is at place 0 alone, the second's at both.
/// Its loss does not mind where the second looks; the regulariser, which is returned, does.
double train_once_each(double weight) {
  struct Steps : nn::Module {
    Steps() : scores(add("scores", Tensor::zeros({1, 2, 2}))) {}
    Tensor scores;
    nn::DoublyStochasticAttention attention{1};
  };
  const Steps model;
  const Tensor places = Tensor::from(std::vector<float>{1, 1, 0, 1}, {1, 2, 2});
  const auto look = [&] {
    return model.attention.forward(
        {.scores = model.scores, .annotations = places, .hidden = Tensor::zeros({1, 2, 1})});
  };
  train(model, 100, 0.1, [&] {
    const auto seen = look();
    // Feature t of what step t saw is the probability of its word.
    const Tensor words = matmul(seen.alpha, places);
    const Tensor right = sum(words * Tensor::from(std::vector<float>{1, 0, 0, 1}, {1, 2, 2}));
    return weight * mean(seen.regulariser) - right;
  });
  const NoGrad off_the_tape;
  return mean(look().regulariser).item();
}

TEST(DoublyStochasticAttention, LearnsToLookAtEachPlaceOnce) {
  expect_learns(0.1, [] { return train_once_each(1.0); }, [] { return train_once_each(0.0); });
}

}  // namespace
}  // namespace attn::test
