#include "attn/nn/mechanisms/pointer/biaffine_attention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/spec/mask.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

constexpr std::int64_t kDim = 3;
constexpr std::int64_t kHidden = 4;

Tensor some(const Shape& shape) {
  return uniform(shape, -1.0, 1.0, nn::random());
}

using Numbers = std::vector<double>;

/// max(0, W x + b), in plain loops.
Numbers perceptron(const nn::Module& module, const std::string& name, const Numbers& x) {
  const auto all = module.named_parameters();
  const auto weight = nn::find_tensor(all, name + ".weight").to_vector<double>();
  Numbers result = nn::find_tensor(all, name + ".bias").to_vector<double>();
  for (std::size_t i = 0; i < result.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) result[i] += weight[i * x.size() + j] * x[j];
    result[i] = std::max(0.0, result[i]);
  }
  return result;
}

Numbers row(const Tensor& x, std::int64_t place) {
  return x.select(0, 0).select(0, place).to_vector<double>();
}

TEST(BiaffineAttention, IsTheFormula) {
  nn::seed(3);
  nn::BiaffineAttention arcs({.dependent_dim = kDim, .head_dim = kDim, .hidden = kHidden});
  arcs.to(DType::f64);
  const Tensor words = some({1, 3, kDim}).to(DType::f64);
  const Tensor places = some({1, 4, kDim}).to(DType::f64);
  const nn::Biaffine result =
      arcs.forward(words, places, {}, Tensor::from(std::vector<std::int64_t>{2, 0, 3}, {1, 3}));
  const auto all = arcs.named_parameters();
  const Numbers product = nn::find_tensor(all, "U").to_vector<double>();
  const Numbers linear = nn::find_tensor(all, "u").to_vector<double>();
  const double bias = nn::find_tensor(all, "b").item();
  const std::vector<std::int64_t> targets{2, 0, 3};
  for (std::int64_t i = 0; i < 3; ++i) {
    const Numbers d = perceptron(arcs, "dependent", row(words, i));
    Numbers scores;
    double sum = 0.0;
    for (std::int64_t j = 0; j < 4; ++j) {
      const Numbers h = perceptron(arcs, "head", row(places, j));
      double score = bias;
      for (std::size_t a = 0; a < kHidden; ++a) {
        score += linear[a] * h[a] + linear[kHidden + a] * d[a];
        for (std::size_t b = 0; b < kHidden; ++b)
          score += h[a] * product[a * kHidden + b] * d[b];
      }
      scores.push_back(score);
      sum += std::exp(score);
    }
    const Numbers weights = row(result.weights, i);
    for (std::size_t j = 0; j < 4; ++j)
      EXPECT_NEAR(weights[j], std::exp(scores[j]) / sum, test::kDoubleSum);
    EXPECT_NEAR(result.log_sum_exp.to_vector<double>()[static_cast<std::size_t>(i)],
                std::log(sum), test::kDoubleSum);
    const auto target = static_cast<std::size_t>(targets[static_cast<std::size_t>(i)]);
    EXPECT_NEAR(result.log_prob.to_vector<double>()[static_cast<std::size_t>(i)],
                scores[target] - std::log(sum), test::kDoubleSum);
  }
}

TEST(BiaffineAttention, PointsOnlyWhereItMay) {
  const nn::BiaffineAttention arcs(
      {.dependent_dim = kDim, .head_dim = kDim, .hidden = kHidden});
  const Tensor words = some({1, 3, kDim});
  const Tensor places = some({1, 4, kDim});
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{3}, {1});
  const auto weights =
      arcs.forward(words, places, {.lengths = lengths, .keep = !spec::window(0, 0, 1)})
          .weights.to_vector<float>();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(weights[i * 4 + 3], 0.0f);
    EXPECT_EQ(weights[i * 4 + i + 1], 0.0f);
  }
  const auto bad = [&](std::int64_t place) {
    return Tensor::from(std::vector<std::int64_t>{0, place, 0}, {1, 3});
  };
  EXPECT_THROW(arcs.forward(words, places, {}, bad(4)), InvalidArgument);
  EXPECT_THROW(arcs.forward(words, places, {}, bad(-2)), InvalidArgument);
  EXPECT_EQ(arcs.forward(words, places, {}, bad(-1)).log_prob.to_vector<float>()[1], 0.0f);
}

TEST(BiaffineLabels, AreTheFormulaForEachLabel) {
  nn::seed(5);
  nn::BiaffineLabels labels(
      {.dependent_dim = kDim, .head_dim = kDim, .hidden = kHidden, .labels = 2});
  labels.to(DType::f64);
  const Tensor words = some({1, 2, kDim}).to(DType::f64);
  const Tensor places = some({1, 3, kDim}).to(DType::f64);
  const std::vector<std::int64_t> chosen{2, 0};
  const Numbers logits =
      labels.forward(words, places, Tensor::from(chosen, {1, 2})).to_vector<double>();
  const auto all = labels.named_parameters();
  const Numbers product = nn::find_tensor(all, "U.weight").to_vector<double>();
  const Numbers of_head = nn::find_tensor(all, "u_head.weight").to_vector<double>();
  const Numbers of_word = nn::find_tensor(all, "u_dependent.weight").to_vector<double>();
  const Numbers bias = nn::find_tensor(all, "u_dependent.bias").to_vector<double>();
  for (std::size_t i = 0; i < 2; ++i) {
    const Numbers d = perceptron(labels, "dependent", row(words, static_cast<std::int64_t>(i)));
    const Numbers h = perceptron(labels, "head", row(places, chosen[i]));
    for (std::size_t label = 0; label < 2; ++label) {
      double logit = bias[label];
      for (std::size_t a = 0; a < kHidden; ++a) {
        logit += of_head[label * kHidden + a] * h[a] + of_word[label * kHidden + a] * d[a];
        for (std::size_t b = 0; b < kHidden; ++b)
          logit += h[a] * product[(label * kHidden + a) * kHidden + b] * d[b];
      }
      EXPECT_NEAR(logits[i * 2 + label], logit, test::kDoubleSum);
    }
  }
  EXPECT_THROW(
      labels.forward(words, places, Tensor::from(std::vector<std::int64_t>{3, 0}, {1, 2})),
      InvalidArgument);
}

}  // namespace
}  // namespace attn
