#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "attn/nn/local/local_monotonic.hpp"
#include "attn/nn/local/local_predictive.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "nn/support/tasks.hpp"

namespace attn::test {
namespace {

constexpr std::int64_t kBatch = 16;
constexpr std::int64_t kCount = 4;
constexpr nn::LocalScoreOptions kGeneral{
    .score = nn::LocalScore::general, .query_dim = kCount, .key_dim = 2 * kCount};

/// The window is wide enough for all places; which one is asked for must be learnt.
double train_monotonic(bool attends) {
  const WithHead model(nn::LocalMonotonicAttention({.reach = kCount, .score = kGeneral}),
                       2 * kCount, kCount);
  return train(model, 150, 0.05, [&] {
    const Lookup task = make_lookup(kBatch, kCount);
    const Tensor items = attends ? task.items : blurred(task.items);
    const Tensor context = model.looks.forward(task.query.unsqueeze(1), items, items).output;
    return cross_entropy(model.out(context.squeeze(1)), task.answer);
  });
}

TEST(LocalMonotonicAttention, LearnsToFindTheKeyThatIsAskedFor) {
  expect_learns(
      0.4, [] { return train_monotonic(true); }, [] { return train_monotonic(false); });
}

/// The query names a place, and places have no keys: the window itself must move there.
double train_predictive(bool attends) {
  constexpr std::int64_t kPlaces = 3;
  constexpr std::int64_t kRows = 32;
  const WithHead model(
      nn::LocalPredictiveAttention({.query_dim = kPlaces, .hidden_dim = 16, .reach = 2}),
      kPlaces, kPlaces);
  const Tensor keys = Tensor::zeros({kRows, kPlaces, kPlaces});
  return train(model, 300, 0.03, [&] {
    const Lookup task = make_lookup(kRows, kPlaces);
    // One-hot values by place; the query is the place that is asked for.
    const Tensor values = task.items.slice(2, kPlaces, 2 * kPlaces);
    Tensor place = Tensor::zeros({kRows, kPlaces});
    for (std::int64_t b = 0; b < kRows; ++b)
      place.mutable_data<float>()[b * kPlaces + task.place.data<std::int64_t>()[b]] = 1.0f;
    const Tensor context =
        model.looks.forward(place.unsqueeze(1), keys, attends ? values : blurred(values))
            .looked.output;
    return cross_entropy(model.out(context.squeeze(1)), task.answer);
  });
}

TEST(LocalPredictiveAttention, LearnsWhereToLook) {
  expect_learns(
      0.45, [] { return train_predictive(true); }, [] { return train_predictive(false); });
}

}  // namespace
}  // namespace attn::test
