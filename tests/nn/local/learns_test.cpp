#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/nn/attention/luong_attention.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/local/local_monotonic.hpp"
#include "attn/nn/mechanisms/local/local_predictive.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/support/lookup.hpp"
#include "nn/support/tasks.hpp"

namespace attn::test {
namespace {

constexpr std::int64_t kBatch = 32;
constexpr std::int64_t kClasses = 3;
constexpr std::int64_t kKinds = 3;
constexpr std::int64_t kItems = 9;

/// Items of kinds 0 1 2 0 1 2 ... and of any class. A kind says which item only to who looks at
/// three neighbours: among all items it is there three times.
struct Neighbours {
  /// Each row of `places` [batch, queries] holds the items whose classes are asked for.
  explicit Neighbours(const Tensor& places)
      : classes(random_integers({kBatch, kItems}, 0, kClasses, nn::random())) {
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 0; i < kBatch * kItems; ++i) ids.push_back(i % kKinds);
    const Tensor kinds = Tensor::from(ids, {kBatch, kItems});
    keys = one_hot(kinds, kKinds);
    values = one_hot(classes, kClasses);
    queries = one_hot(gather(kinds, 1, places), kKinds);
    answer = gather(classes, 1, places);
  }

  Tensor classes;  ///< i64 [batch, items]
  Tensor keys;     ///< [batch, items, kinds]
  Tensor values;   ///< [batch, items, classes]
  Tensor queries;  ///< [batch, queries, kinds]: the kind asked for
  Tensor answer;   ///< i64 [batch, queries]
};

constexpr nn::LocalScoreOptions kGeneral{
    .score = nn::LuongScore::general, .query_dim = kKinds, .key_dim = kKinds};

struct Window {
  std::int64_t window;
  std::int64_t offset;
};

/// Query t asks for one of the items t, t + 1 and t + 2.
double train_monotonic(const Window& window) {
  constexpr std::int64_t kSteps = kItems - 2;
  const WithHead model(
      nn::LocalMonotonicAttention(
          {.window = window.window, .score = kGeneral, .offset = window.offset}),
      kClasses, kClasses);
  return train(model, 150, 0.05, [&] {
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < kBatch * kSteps; ++i)
      places.push_back(i % kSteps + drawn(kKinds));
    const Neighbours task(Tensor::from(places, {kBatch, kSteps}));
    const Tensor context = model.looks.forward(task.queries, task.keys, task.values).output;
    return cross_entropy(model.out(context), task.answer);
  });
}

/// A window that covers everything fails on the same task, and so do those at other places.
TEST(LocalMonotonicAttention, LearnsWhatOnlyItsWindowTells) {
  for (const Window& wrong :
       {Window{.window = kItems, .offset = 1}, Window{.window = 1, .offset = 0},
        Window{.window = 1, .offset = 2}})
    expect_learns(
        0.25, [] { return train_monotonic({.window = 1, .offset = 1}); },
        [&] { return train_monotonic(wrong); });
}

/// A query names a kind, and as a number the place near which it is meant. The window of five
/// does not reach all items from any one place, so it must move there. Items of the same kind
/// match by different strengths: outside of the window a stronger one would take all weight.
template <class M, class Look>
double train_places(const M& mechanism, const Look& look) {
  const WithHead model(mechanism, kClasses, kClasses);
  return train(model, 300, 0.03, [&] {
    const Tensor places = random_integers({kBatch, 1}, 0, kItems, nn::random());
    const Tensor number = places.to(DType::f32) * (2.0 / (kItems - 1)) - 1.0;
    const Neighbours task(places);
    // Short queries begin with their windows in the middle, where some answers are in sight.
    const Tensor query = concat({number.unsqueeze(2), task.queries}, 2) * 0.1;
    const Tensor strength =
        random_integers({kBatch, kItems, 1}, 1, 4, nn::random()).to(DType::f32) * 50.0;
    const Tensor keys = pad(task.keys * strength, 2, 1, 0);
    const Tensor context = look(model.looks, query, keys, task.values);
    return cross_entropy(model.out(context), task.answer);
  });
}

double train_predictive(std::int64_t window, nn::Fade fade) {
  return train_places(
      nn::LocalPredictiveAttention(
          {.query_dim = 1 + kKinds, .hidden_dim = 16, .window = window, .fade = fade}),
      [](const auto& looks, const Tensor& query, const Tensor& keys, const Tensor& values) {
        return looks.forward(query, keys, values).result.output;
      });
}

/// The same window, but it stays in the middle.
double train_fixed(std::int64_t window) {
  return train_places(
      nn::LocalMonotonicAttention(
          {.window = window, .fade = nn::Fade::gaussian, .offset = kItems / 2}),
      [](const auto& looks, const Tensor& query, const Tensor& keys, const Tensor& values) {
        return looks.forward(query, keys, values).output;
      });
}

TEST(LocalPredictiveAttention, LearnsToMoveItsWindow) {
  expect_learns(
      0.2, [] { return train_predictive(2, nn::Fade::gaussian); },
      [] { return train_fixed(2); });
}

TEST(LocalPredictiveAttention, NeedsAWindowThatLeavesItemsOut) {
  expect_learns(
      0.2, [] { return train_predictive(2, nn::Fade::gaussian); },
      [] { return train_predictive(kItems, nn::Fade::gaussian); });
}

/// The gradient reaches the centre through the fading alone.
TEST(LocalPredictiveAttention, LearnsItsCentreByFading) {
  expect_learns(
      0.2, [] { return train_predictive(2, nn::Fade::gaussian); },
      [] { return train_predictive(2, nn::Fade::none); });
}

}  // namespace
}  // namespace attn::test
