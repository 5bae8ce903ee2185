#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "attn/nn/hard/doubly_stochastic.hpp"
#include "attn/nn/hard/hard_attention.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
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

/// The loss of the most probable location after training on draws.
double train_hard(bool attends) {
  const Reader reader;
  nn::HardAttention attention(attn::Random(5).named("hard"));
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
  expect_learns(0.3, [] { return train_hard(true); }, [] { return train_hard(false); });
}

double train_doubly(bool attends) {
  struct Model : nn::Module {
    Model()
        : reader(add("reader", Reader())),
          attention(add("attention", nn::DoublyStochasticAttention(kCount))) {}
    Reader reader;
    nn::DoublyStochasticAttention attention;
  };
  const Model model;
  return train(model, 120, 0.05, [&] {
    const Lookup task = make_lookup(kBatch, kCount);
    const Tensor items = attends ? task.items : blurred(task.items);
    const auto made = model.attention.forward({.scores = model.reader.scores(task.query, items),
                                               .annotations = items,
                                               .hidden = task.query.unsqueeze(1)});
    return mean(made.regulariser) * 0.001 -
           mean(model.reader.log_py(made.context, task.answer));
  });
}

TEST(DoublyStochasticAttention, LearnsToFindTheKeyThatIsAskedFor) {
  expect_learns(0.25, [] { return train_doubly(true); }, [] { return train_doubly(false); });
}

}  // namespace
}  // namespace attn::test
