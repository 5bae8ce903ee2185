// CTC: sums over alignments are those of every path spelt out, gradients those of differences.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn {
namespace {

using test::expect_close;
using test::expect_gradients;
using test::expect_same_in_float;
using test::random_tensor;
using test::Tensors;

using Ids = std::vector<std::int64_t>;

Tensor row(const Ids& values) {
  return Tensor::from(values, {1, static_cast<std::int64_t>(values.size())});
}

Tensor numbers(const Ids& values) {
  return Tensor::from(values, {static_cast<std::int64_t>(values.size())});
}

/// What a path spells: repeats are one, then blanks go.
Ids spelt(const Ids& path, std::int64_t blank) {
  Ids labels;
  for (std::size_t t = 0; t < path.size(); ++t)
    if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) labels.push_back(path[t]);
  return labels;
}

/// -log of the sum over all classes^frames paths; logits [1, frames, classes].
double by_hand(const Tensor& logits, const Ids& labels, std::int64_t blank) {
  const std::vector<double> logs = log_softmax(logits.to(DType::f64)).to_vector<double>();
  const std::int64_t frames = logits.size(1);
  const std::int64_t classes = logits.size(2);
  double sum = 0.0;
  Ids path(static_cast<std::size_t>(frames), 0);
  while (true) {
    if (spelt(path, blank) == labels) {
      double log_p = 0.0;
      for (std::size_t t = 0; t < path.size(); ++t)
        log_p +=
            logs[t * static_cast<std::size_t>(classes) + static_cast<std::size_t>(path[t])];
      sum += std::exp(log_p);
    }
    std::size_t place = 0;
    while (place < path.size() && ++path[place] == classes) path[place++] = 0;
    if (place == path.size()) return -std::log(sum);
  }
}

TEST(CtcLoss, IsTheSumOverAllPaths) {
  const std::vector<Ids> all{{}, {1}, {2}, {1, 2}, {2, 2}, {1, 1, 2}, {1, 2, 1}};
  for (const std::int64_t frames : {1, 2, 5})
    for (const Ids& labels : all) {
      const Tensor logits = random_tensor("logits", {1, frames, 3}, -3.0, 3.0);
      const double want = by_hand(logits, labels, 0);
      const double got = ctc_loss(logits, row(labels)).item();
      if (std::isinf(want)) {
        EXPECT_EQ(got, std::numeric_limits<double>::infinity());
      } else {
        EXPECT_NEAR(got, want, test::kDoubleSum) << frames << " frames, " << labels.size();
      }
    }
}

TEST(CtcLoss, HasItsBlankAnywhere) {
  const Tensor logits = random_tensor("logits", {1, 4, 4}, -2.0, 2.0);
  for (const std::int64_t blank : {1, 3})
    EXPECT_NEAR(ctc_loss(logits, row({0, 2}), {}, blank).item(), by_hand(logits, {0, 2}, blank),
                test::kDoubleSum);
}

TEST(CtcLoss, OfABatchIsThatOfItsRowsWhateverThePaddingHolds) {
  const Tensor labels = Tensor::from(Ids{1, 2, 2, 1, 3, 99, 7, 8, 9}, {3, 3});
  const CtcLengths lengths{numbers({6, 3, 0}), numbers({3, 2, 0})};
  std::vector<double> values = random_tensor("logits", {3, 6, 4}).to_vector<double>();
  for (std::size_t i = 1 * 24 + 3 * 4; i < values.size(); ++i)
    values[i] = std::numeric_limits<double>::quiet_NaN();
  Tensor logits = Tensor::from(values, {3, 6, 4}).set_requires_grad();
  const Tensor losses = ctc_loss(logits, labels, lengths);
  const std::vector<double> got = losses.to_vector<double>();
  EXPECT_NEAR(got[0], by_hand(logits.detach().slice(0, 0, 1), {1, 2, 2}, 0), test::kDoubleSum);
  EXPECT_NEAR(got[1], by_hand(logits.detach().slice(0, 1, 2).slice(1, 0, 3), {1, 3}, 0),
              test::kDoubleSum);
  EXPECT_EQ(got[2], 0.0);
  sum(losses).backward();
  const std::vector<double> slopes = logits.grad().to_vector<double>();
  for (std::size_t i = 1 * 24 + 3 * 4; i < slopes.size(); ++i) EXPECT_EQ(slopes[i], 0.0);
}

TEST(CtcLoss, GradientsAreThoseOfDifferences) {
  const auto f = [](const Tensors& in) {
    return Tensors{ctc_loss(in[0], in[1], {in[2], in[3]}, 1)};
  };
  const Tensors inputs{random_tensor("logits", {3, 7, 4}, -3.0, 3.0),
                       Tensor::from(Ids{0, 0, 3, 2, 3, 0, 2, 0, 0}, {3, 3}), numbers({7, 5, 4}),
                       numbers({3, 2, 1})};
  expect_gradients(f, inputs);
  expect_same_in_float(f, inputs);
}

TEST(CtcLoss, OfLabelsThatNoPathSpellsIsInfiniteAndHasNoSlope) {
  Tensor logits = random_tensor("logits", {2, 2, 3}).set_requires_grad();
  // Equal labels need a blank between them, and so a third frame.
  const Tensor labels = Tensor::from(Ids{1, 1, 1, 2}, {2, 2});
  const Tensor losses = ctc_loss(logits, labels);
  EXPECT_EQ(losses.to_vector<double>()[0], std::numeric_limits<double>::infinity());
  sum(losses).backward();
  const std::vector<double> slopes = logits.grad().to_vector<double>();
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(slopes[i], 0.0);
  EXPECT_NE(slopes[6], 0.0);
}

TEST(CtcLoss, StaysFiniteForLongSounds) {
  // A thousand frames: the sum itself is far below the least double.
  Tensor logits = random_tensor("logits", {1, 1000, 30}, -9.0, 9.0, DType::f32);
  logits.set_requires_grad();
  Ids labels;
  for (std::int64_t i = 0; i < 200; ++i) labels.push_back(1 + (i * 7) % 29);
  const Tensor loss = ctc_loss(logits, row(labels));
  EXPECT_TRUE(std::isfinite(loss.item()));
  EXPECT_GT(loss.item(), 1000.0);
  sum(loss).backward();
  // Both parts of a frame's slope are probabilities, so that a frame has the sum 0.
  expect_close(sum(logits.grad(), 2), Tensor::zeros({1, 1000}), test::kFloatSum);
}

TEST(CtcLoss, NamesWhatIsWrong) {
  const Tensor logits = Tensor::zeros({1, 4, 3});
  const auto message = [&](const Tensor& labels, const CtcLengths& lengths,
                           std::int64_t blank) {
    try {
      ctc_loss(logits, labels, lengths, blank);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(row({3}), {}, 0).find("label 3 of 3 classes"), std::string::npos);
  EXPECT_NE(message(row({0}), {}, 0).find("label 0"), std::string::npos);
  EXPECT_NE(message(row({1}), {}, 3).find("blank 3"), std::string::npos);
  EXPECT_NE(message(row({1}), {numbers({5}), {}}, 0).find("lengths.frames"), std::string::npos);
  EXPECT_NE(message(row({1}), {{}, numbers({2})}, 0).find("lengths.labels"), std::string::npos);
  EXPECT_NE(message(Tensor::zeros({1}), {}, 0).find("labels"), std::string::npos);
}

}  // namespace
}  // namespace attn
