#include "attn/tensor/spec/normaliser.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"
#include "tensor/support/gradcheck.hpp"
#include "tensor/support/naive_attention.hpp"

namespace attn::test {
namespace {

const Small kSize;

/// Under a causal mask whose first query sees nothing.
const Mask kKeep = spec::causal(-1);
Tensor kept() {
  return flag_pairs(kSize, [](auto, auto, auto i, auto j) { return j <= i - 1; });
}

Tensor scores_of(const Tensors& in) {
  return dot_products(in[0], in[1]) * 0.5;
}

void expect_normaliser(const std::function<spec::Normaliser(const Tensors&)>& normaliser,
                       const Tensors& tables,
                       const std::function<Tensor(const Tensor&)>& weights) {
  Tensors in = kSize.inputs();
  const Tensor expected = keep_where(weights(scores_of(in)), kept());
  in.insert(in.end(), tables.begin(), tables.end());
  expect_attends({.keep = kKeep, .normaliser = normaliser}, in, expected);
}

/// The number of keys a query keeps, at least 1.
Tensor counts() {
  return number_pairs(
      kSize, [](auto, auto, auto i, auto) { return static_cast<double>(i > 0 ? i : 1); });
}

TEST(SpecNormaliser, SoftmaxIdentityMeanAndSigmoids) {
  expect_normaliser([](const Tensors&) { return spec::softmax(); }, {},
                    [](const Tensor& s) { return softmax(s, -1, kept()); });
  expect_normaliser([](const Tensors&) { return spec::identity(); }, {},
                    [](const Tensor& s) { return s; });
  expect_normaliser([](const Tensors&) { return spec::mean(); }, {},
                    [](const Tensor& s) { return s / counts(); });
  expect_normaliser([](const Tensors&) { return spec::sigmoid(); }, {},
                    [](const Tensor& s) { return sigmoid(s); });
  expect_normaliser([](const Tensors&) { return spec::summed_sigmoid(); }, {},
                    [](const Tensor& s) {
                      const Tensor each = keep_where(sigmoid(s), kept());
                      return each / (sum(each, -1, Axis::keep) + 1e-300);
                    });
}

TEST(SpecNormaliser, ASinkTakesPartInTheSum) {
  const Tensor sink = random_tensor("sink", {2});
  expect_normaliser([](const Tensors& t) { return spec::softmax_with_sink(t[3]); }, {sink},
                    [&](const Tensor& s) {
                      const Tensor each = keep_where(exp(s), kept());
                      return each /
                             (sum(each, -1, Axis::keep) + exp(sink.reshape({1, 2, 1, 1})));
                    });
}

TEST(SpecNormaliser, SparsemaxProjectsOntoTheSimplex) {
  const Tensors in = kSize.inputs();
  const auto run = [](const Tensors& t) -> Tensors {
    const Attended got = attend(t[0], t[1], t[2], spec::dot(3.0), kKeep, spec::sparsemax(),
                                Want::output | Want::weights);
    return {got.output, got.weights};
  };
  const Tensor totals = sum(run(in)[1], -1);
  for (std::int64_t row = 0; row < totals.numel(); ++row)
    EXPECT_NEAR(totals.data<double>()[row], row % 3 == 0 ? 0.0 : 1.0, test::kDoubleSum);
  expect_gradients(run, in);
  expect_same_in_float(run, in, 2e-5);
}

TEST(SpecNormaliser, HardChoicesWeighOneKeyAndPassNothingToTheScores) {
  for (const auto& normaliser : {spec::hard_argmax(), spec::hard_sample(7)}) {
    Tensors in = kSize.inputs();
    for (Tensor& x : in) x.set_requires_grad();
    const Attended got = attend(in[0], in[1], in[2], spec::scaled_dot(), {}, normaliser,
                                Want::output | Want::weights | Want::arg_max);
    const Tensor totals = sum(got.weights, -1);
    for (const double total : totals.to_vector<double>()) EXPECT_EQ(total, 1.0);
    got.output.backward(Tensor::full(got.output.shape(), 1.0, DType::f64));
    for (const double x : in[0].grad().to_vector<double>()) EXPECT_EQ(x, 0.0);
    EXPECT_EQ(sum(in[2].grad()).item(), static_cast<double>(got.output.numel()));
  }
  const Tensors in = kSize.inputs();
  const Attended got =
      attend(in[0], in[1], in[2], spec::scaled_dot(), {}, spec::hard_argmax(), Want::arg_max);
  EXPECT_EQ(got.arg_max.to_vector<std::int64_t>(),
            argmax(scores_of(in), -1).to_vector<std::int64_t>());
}

TEST(SpecNormaliser, FactorsMultiplyAfterwardsAndAreNotRenormalised) {
  const Tensor centre = random_tensor("centre", {2, 3}, 0.0, 4.0);
  const Tensor bell = number_pairs(kSize, [&](auto b, auto, auto i, auto j) {
    const double z = (static_cast<double>(j) - centre.data<double>()[b * 3 + i]) / 1.5;
    return std::exp(-0.5 * z * z);
  });
  expect_normaliser(
      [](const Tensors& t) { return spec::softmax() | spec::local_gaussian(t[3], 1.5); },
      {centre}, [&](const Tensor& s) { return softmax(s, -1, kept()) * bell; });
  const Tensor gate = random_tensor("gate", {2, 2, 3}, 0.0, 1.0);
  expect_normaliser(
      [](const Tensors& t) {
        return spec::softmax() | spec::local_gaussian(t[3], 1.5) | spec::scale_weight(t[4]);
      },
      {centre, gate},
      [&](const Tensor& s) { return softmax(s, -1, kept()) * bell * gate.unsqueeze(3); });
}

TEST(SpecNormaliser, DropoutDrawsTheSameWeightsInEveryPass) {
  const Tensors in = kSize.inputs();
  const auto run = [](const Tensors& t) -> Tensors {
    const Attended got =
        attend(t[0], t[1], t[2], spec::scaled_dot(), {},
               spec::softmax({.dropout = 0.4, .key = 11}), Want::output | Want::weights);
    return {got.output, got.weights};
  };
  const Tensors got = run(in);
  expect_close(got[0], matmul(got[1], in[2]), 1e-12);
  const Tensor plain = softmax(scores_of(in));
  int dropped = 0;
  for (std::int64_t i = 0; i < plain.numel(); ++i) {
    const double w = got[1].data<double>()[i];
    dropped += w == 0.0;
    if (w != 0.0) {
      EXPECT_NEAR(w, plain.data<double>()[i] / 0.6, test::kFloat);
    }
  }
  EXPECT_GT(dropped, 10);
  EXPECT_LT(dropped, 40);
  expect_gradients(run, in);
  expect_same_in_float(run, in, 2e-5);
}

TEST(SpecNormaliser, WrongOptionsAreRefused) {
  const Tensors in = kSize.inputs();
  EXPECT_THROW(spec::softmax({.dropout = 0.1}), InvalidArgument);
  EXPECT_THROW(spec::softmax({.dropout = 1.5, .key = 1}), InvalidArgument);
  EXPECT_THROW(spec::local_gaussian(random_tensor("x", {2}), 0.0), InvalidArgument);
  EXPECT_THROW(attend(in[0], in[1], in[2], spec::dot(), {},
                      spec::softmax_with_sink(random_tensor("x", {3}))),
               InvalidArgument);
}

}  // namespace
}  // namespace attn::test
