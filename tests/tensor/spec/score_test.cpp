#include "attn/tensor/spec/score.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/score/alibi.hpp"
#include "attn/score/t5_buckets.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/support/gradcheck.hpp"
#include "tensor/support/naive_attention.hpp"

namespace attn::test {
namespace {

const Small kSize;

/// Softmax of scores made from q and k by a formula.
void expect_score(const std::function<spec::Score(const Tensors&)>& score,
                  const Tensors& inputs, const Tensor& scores) {
  expect_attends({.score = score}, inputs, softmax(scores));
}

/// A modifier after the plain dot product.
void expect_modifier(const std::function<spec::ScoreModifier(const Tensors&)>& modifier,
                     const Tensors& tables,
                     const std::function<Tensor(const Tensor&)>& formula) {
  Tensors inputs = kSize.inputs();
  const Tensor scores = formula(dot_products(inputs[0], inputs[1]));
  inputs.insert(inputs.end(), tables.begin(), tables.end());
  expect_score([&](const Tensors& in) { return spec::dot() | modifier(in); }, inputs, scores);
}

/// f(q row, k row) for every pair.
Tensor pair_scores(const Tensors& in,
                   const std::function<double(const double*, const double*)>& f) {
  const std::int64_t d = in[0].size(3);
  return number_pairs(kSize, [&](auto b, auto h, auto i, auto j) {
    const double* q = in[0].data<double>() + ((b * kSize.heads + h) * kSize.queries + i) * d;
    const double* k = in[1].data<double>() + ((b * kSize.heads + h) * kSize.keys + j) * d;
    return f(q, k);
  });
}

TEST(SpecScore, DotIsScaledByANumberOrByTheRootOfTheChannels) {
  const Tensors in = kSize.inputs();
  const Tensor dots = dot_products(in[0], in[1]);
  expect_score([](const Tensors&) { return spec::dot(0.25); }, in, dots * 0.25);
  expect_score([](const Tensors&) { return spec::scaled_dot(); }, in, dots * 0.5);
}

TEST(SpecScore, DistanceHasNoWidthOrOneOrOneForEachChannel) {
  const Tensors in = kSize.inputs();
  for (const std::int64_t widths : {0, 1, 4}) {
    Tensors with = in;
    if (widths > 0) with.push_back(random_tensor("width", {widths}, 0.5, 2.0));
    const Tensor scores = pair_scores(in, [&](const double* q, const double* k) {
      double sum = 0.0;
      for (int c = 0; c < 4; ++c) {
        const double w = widths == 0 ? 1.0 : with[3].data<double>()[widths == 1 ? 0 : c];
        sum -= 0.5 * (q[c] - k[c]) * (q[c] - k[c]) * w * w;
      }
      return sum;
    });
    expect_score([&](const Tensors& t) { return spec::distance(widths > 0 ? t[3] : Tensor()); },
                 with, scores);
  }
}

TEST(SpecScore, AdditiveLearnsItsWeightForAllHeadsOrForEach) {
  Tensors in = kSize.inputs();
  in.push_back(random_tensor("weight", {4}));
  const auto additive = [](const Tensors& t) { return spec::additive(t[3]); };
  const Tensor scores = pair_scores(in, [&](const double* q, const double* k) {
    double sum = 0.0;
    for (int c = 0; c < 4; ++c) sum += in[3].data<double>()[c] * std::tanh(q[c] + k[c]);
    return sum;
  });
  expect_score(additive, in, scores);
  // Rows of [kv_heads, channels] that are equal do what one row does.
  in[3] = in[3].unsqueeze(0).expand({2, 4}).clone();
  expect_score(additive, in, scores);
}

TEST(SpecScore, CosineAndSum) {
  Tensors in = kSize.inputs();
  const Tensor cosines = pair_scores(in, [](const double* q, const double* k) {
    double qk = 0.0, qq = 0.0, kk = 0.0;
    for (int c = 0; c < 4; ++c) {
      qk += q[c] * k[c];
      qq += q[c] * q[c];
      kk += k[c] * k[c];
    }
    return 3.0 * qk / std::sqrt(qq * kk);
  });
  expect_score([](const Tensors&) { return spec::cosine(3.0); }, in, cosines);
  in[0] = in[0].slice(3, 0, 1).clone();
  in[1] = in[1].slice(3, 0, 1).clone();
  expect_score([](const Tensors&) { return spec::sum(); }, in, in[0] + in[1].transpose(2, 3));
}

TEST(SpecScore, GivenScoresNeedNoQueriesAndKeys) {
  const Tensor v = kSize.inputs()[2];
  const Tensor scores = random_tensor("scores", kSize.pairs());
  expect_score([](const Tensors& t) { return spec::given(t[3]); }, {{}, {}, v, scores}, scores);
  // Fewer value heads serve several heads of scores.
  const Tensor few = v.slice(1, 0, 1).clone();
  expect_score([](const Tensors& t) { return spec::given(t[3]); }, {{}, {}, few, scores},
               scores);
}

TEST(SpecScore, ScaleAndSoftCap) {
  expect_modifier([](const Tensors&) { return spec::scale(0.5); }, {},
                  [](const Tensor& s) { return s * 0.5; });
  expect_modifier([](const Tensors&) { return spec::soft_cap(2.0); }, {},
                  [](const Tensor& s) { return tanh(s / 2.0) * 2.0; });
}

TEST(SpecScore, LearntScaleIsOneForAllOrEachHeadOrEachQuery) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{2}, Shape{2, 3}, Shape{2, 2, 3}}) {
    const Tensor factor = random_tensor("factor", shape, 0.5, 2.0);
    Tensor wide = factor;
    if (shape.rank() == 1) wide = factor.reshape({1, shape[0], 1, 1});
    if (shape.rank() == 2) wide = factor.unsqueeze(1).unsqueeze(3);
    if (shape.rank() == 3) wide = factor.unsqueeze(3);
    SCOPED_TRACE(factor.text());
    expect_modifier([](const Tensors& t) { return spec::scale(t[3]); }, {factor},
                    [&](const Tensor& s) { return s * wide; });
  }
}

TEST(SpecScore, AlibiHasThePapersSlopesOrLearntOnes) {
  std::vector<double> slopes(2);
  attn::score::fill_alibi_slopes(slopes.data(), 2);
  const auto formula = [&](std::int64_t offset) {
    return [&slopes, offset](const Tensor& s) {
      return s - number_pairs(kSize, [&](auto, auto h, auto i, auto j) {
               return slopes[static_cast<std::size_t>(h)] *
                      std::fabs(static_cast<double>(i + offset - j));
             });
    };
  };
  expect_modifier([](const Tensors&) { return spec::alibi(); }, {}, formula(2));
  expect_modifier([](const Tensors&) { return spec::alibi(spec::Offset(0)); }, {}, formula(0));
  slopes = {0.3, 0.7};
  expect_modifier([](const Tensors& t) { return spec::alibi(t[3]); },
                  {Tensor::from(slopes, {2})}, formula(2));
}

TEST(SpecScore, RelativeTablesAreSharedOrOfAHeadOrOfAQuery) {
  for (const Shape& shape : {Shape{5}, Shape{2, 5}, Shape{2, 3, 5}, Shape{2, 2, 3, 5}}) {
    const Tensor table = random_tensor("table", shape);
    SCOPED_TRACE(table.text());
    Tensor wide = table;
    if (shape.rank() == 1) wide = table.reshape({1, 1, 1, 5});
    if (shape.rank() == 2) wide = table.reshape({1, 2, 1, 5});
    if (shape.rank() == 3) wide = table.unsqueeze(1);
    const Tensor full = wide.expand({2, 2, 3, 5}).contiguous();
    expect_modifier([](const Tensors& t) { return spec::relative_table(t[3], 1); }, {table},
                    [&](const Tensor& s) {
                      return s + number_pairs(kSize, [&](auto b, auto h, auto i, auto j) {
                               const std::int64_t entry =
                                   std::clamp<std::int64_t>(j - (i + 1), -2, 2) + 2;
                               return full.data<double>()[((b * 2 + h) * 3 + i) * 5 + entry];
                             });
                    });
  }
}

TEST(SpecScore, T5BiasIsLookedUpByBucketAndHead) {
  const Tensor weight = random_tensor("weight", {8, 2});
  for (const auto direction :
       {attn::score::T5Direction::both, attn::score::T5Direction::past}) {
    const spec::T5Options options{.direction = direction, .max_distance = 6};
    expect_modifier([&](const Tensors& t) { return spec::t5_bias(t[3], options); }, {weight},
                    [&](const Tensor& s) {
                      return s + number_pairs(kSize, [&](auto, auto h, auto i, auto j) {
                               const int bucket = attn::score::t5_bucket(
                                   static_cast<int>(j - (i + 2)), 8, 6, direction);
                               return weight.data<double>()[bucket * 2 + h];
                             });
                    });
  }
}

TEST(SpecScore, GaussianHasACentreForEachQueryAndAWidthThatMayBeLearnt) {
  const Tensor centre = random_tensor("centre", {2, 3}, 0.0, 4.0);
  const auto formula = [&](const Tensor& s) {
    return s - number_pairs(kSize, [&](auto b, auto, auto i, auto j) {
             const double z = (static_cast<double>(j) - centre.data<double>()[b * 3 + i]) / 1.5;
             return 0.5 * z * z;
           });
  };
  expect_modifier([](const Tensors& t) { return spec::gaussian(t[3], 1.5); }, {centre},
                  formula);
  expect_modifier([](const Tensors& t) { return spec::gaussian(t[3], t[4]); },
                  {centre, Tensor::full({1}, 1.5, DType::f64)}, formula);
}

TEST(SpecScore, BiasAndPriorBroadcastAlongEveryAxis) {
  for (const Shape& shape : {Shape{5}, Shape{3, 5}, Shape{2, 3, 5}, Shape{2, 1, 1, 5},
                             Shape{1, 2, 3, 1}, Shape{2, 2, 3, 5}}) {
    const Tensor table = random_tensor("bias", shape);
    SCOPED_TRACE(table.text());
    const Tensor wide = shape.rank() == 3 ? table.unsqueeze(1) : table;
    expect_modifier([](const Tensors& t) { return spec::bias(t[3]); }, {table},
                    [&](const Tensor& s) { return s + wide; });
    expect_modifier([](const Tensors& t) { return spec::prior(t[3], 0.5); }, {table},
                    [&](const Tensor& s) { return s + wide * 0.5; });
  }
}

TEST(SpecScore, ModifiersRunInOrder) {
  const Tensor table = random_tensor("bias", kSize.pairs());
  Tensors in = kSize.inputs();
  const Tensor dots = dot_products(in[0], in[1]);
  in.push_back(table);
  expect_score(
      [](const Tensors& t) { return spec::dot() | spec::soft_cap(1.0) | spec::bias(t[3]); }, in,
      tanh(dots) + table);
  expect_score(
      [](const Tensors& t) { return spec::dot() | spec::bias(t[3]) | spec::soft_cap(1.0); }, in,
      tanh(dots + table));
}

TEST(SpecScore, HalfTablesAreWidenedAndGetTheirGradientBack) {
  Tensor table = random_tensor("bias", {3, 5}, -1.0, 1.0, DType::bf16).set_requires_grad();
  const Tensors in = kSize.inputs();
  const auto to = [&](int i) { return in[static_cast<std::size_t>(i)].to(DType::bf16); };
  const Attended got = attend(to(0), to(1), to(2), spec::dot() | spec::bias(table));
  EXPECT_EQ(got.output.dtype(), DType::bf16);
  got.output.backward(Tensor::full(got.output.shape(), 1.0, DType::bf16));
  EXPECT_EQ(table.grad().text(), "bf16[3, 5]");
}

TEST(SpecScore, WrongTablesAreRefused) {
  const Tensors in = kSize.inputs();
  const auto run = [&](const spec::Score& score) { attend(in[0], in[1], in[2], score); };
  EXPECT_THROW(run(spec::dot() | spec::bias(random_tensor("x", {4, 5}))), InvalidArgument);
  EXPECT_THROW(run(spec::dot() | spec::bias(Tensor())), InvalidArgument);
  EXPECT_THROW(run(spec::dot() | spec::bias(Tensor::zeros({3, 5}, DType::i64))),
               InvalidArgument);
  EXPECT_THROW(run(spec::dot() | spec::scale(random_tensor("x", {3}))), InvalidArgument);
  EXPECT_THROW(run(spec::dot() | spec::relative_table(random_tensor("x", {4}))),
               InvalidArgument);
  EXPECT_THROW(run(spec::dot() | spec::alibi(random_tensor("x", {3}))), InvalidArgument);
  EXPECT_THROW(run(spec::additive(random_tensor("x", {3}))), InvalidArgument);
  EXPECT_THROW(run(spec::distance(random_tensor("x", {2}))), InvalidArgument);
  EXPECT_THROW(run(spec::sum()), InvalidArgument);
  EXPECT_THROW(run(spec::given(random_tensor("x", kSize.pairs()))), InvalidArgument);
  EXPECT_THROW(spec::given(random_tensor("x", {3, 5})), InvalidArgument);
  EXPECT_THROW(spec::additive(Tensor()), InvalidArgument);
  EXPECT_THROW(spec::soft_cap(0.0), InvalidArgument);
  EXPECT_THROW(spec::gaussian(random_tensor("x", {1}), 0.0), InvalidArgument);
  EXPECT_THROW(spec::t5_bias(random_tensor("x", {8})), InvalidArgument);
  EXPECT_THROW(spec::t5_bias(random_tensor("x", {1, 2})), InvalidArgument);
}

}  // namespace
}  // namespace attn::test
