// Learnt positions find the item before: contents tell nothing, only distances do.

#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "attn/nn/init.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/position/learned_position.hpp"
#include "attn/nn/position/relative_shaw.hpp"
#include "attn/nn/position/relative_skew.hpp"
#include "attn/nn/position/t5_bias.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::test {
namespace {

constexpr std::int64_t kLength = 6;
constexpr std::int64_t kDim = 4;
constexpr double kBound = 0.1;
constexpr int kSteps = 150;
constexpr double kRate = 0.1;

/// Every query is the same, and every key.
struct Items {
  Tensor q = Tensor::full({8, 1, kLength, kDim}, 1.0);
  Tensor k = Tensor::zeros({8, 1, kLength, kDim});
  Tensor v = normal({8, 1, kLength, 2}, 0.0, 1.0, nn::random());
  /// The item before; the first has itself.
  Tensor before = concat({v.slice(2, 0, 1), v.slice(2, 0, kLength - 1)}, 2);
};

using Look = std::function<Tensor(const Items&)>;

double train_previous(const nn::Module& module, const Look& look) {
  return train(module, kSteps, kRate, [&] {
    const Items items;
    return mean_squared_error(look(items), items.before);
  });
}

double average_error() {
  const Items items;
  return mean_squared_error(
             attend(items.q, items.k, items.v, spec::dot(), spec::causal()).output,
             items.before)
      .item();
}

void expect_previous(const nn::Module& module, const Look& look) {
  expect_learns(kBound, [&] { return train_previous(module, look); }, average_error);
}

TEST(RelativeShaw, LearnsToLookBackByOne) {
  nn::seed(1);
  const nn::RelativeShaw attention({.key_dim = kDim, .value_dim = 2, .max_distance = 2});
  expect_previous(attention, [&](const Items& items) {
    return attention.forward(items.q, items.k, items.v, spec::causal()).output;
  });
}

TEST(RelativeSkew, LearnsToLookBackByOne) {
  nn::seed(1);
  const nn::RelativeSkew attention({.length = kLength, .dim = kDim});
  expect_previous(attention, [&](const Items& items) {
    return attention.forward(items.q, items.k, items.v).attended.output;
  });
}

TEST(T5Bias, LearnsToLookBackByOne) {
  nn::seed(1);
  const nn::T5Bias attention({.heads = 1, .buckets = 8, .max_distance = 8});
  expect_previous(attention, [&](const Items& items) {
    return attention.forward(items.q, items.k, items.v, spec::causal()).output;
  });
}

TEST(LearnedPosition, LearnsToFindTheThird) {
  nn::seed(1);
  const nn::LearnedPosition position({.max_positions = kLength, .dim = kDim});
  const auto error = [](const Tensor& keys, const Items& items) {
    const Tensor query = items.q.select(1, 0).slice(1, 0, 1);
    const Tensor values = items.v.select(1, 0);
    return mean_squared_error(attend(query, keys, values).output, values.slice(1, 2, 3));
  };
  expect_learns(
      kBound,
      [&] {
        return train(position, kSteps, kRate, [&] {
          const Items items;
          return error(position(items.k.select(1, 0)), items);
        });
      },
      [&] {
        const Items items;
        return error(items.k.select(1, 0), items).item();
      });
}

}  // namespace
}  // namespace attn::test
