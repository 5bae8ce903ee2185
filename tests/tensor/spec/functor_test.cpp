#include "attn/tensor/spec/functor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/normalise/softmax.hpp"
#include "attn/score/chain.hpp"
#include "attn/score/lambda.hpp"
#include "attn/score/soft_cap.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/spec/functors.hpp"
#include "tensor/support/gradcheck.hpp"
#include "tensor/support/naive_attention.hpp"

namespace attn::test {
namespace {

const Small kSize;

TEST(SpecFunctor, AUsersScoreLearnsItsTables) {
  Tensors in = kSize.inputs();
  const Tensor dots = dot_products(in[0], in[1]);
  for (const Shape& shape : {Shape{1}, Shape{2, 1}}) {  // one rate for all, one a head
    const Tensor rate = random_tensor("rate", shape, 0.2, 1.0);
    const Tensor fade = number_pairs(kSize, [](auto, auto, auto i, auto j) {
      return std::log(1.0 + std::fabs(static_cast<double>(j - i)));
    });
    const Tensor wide = shape.rank() == 1 ? rate : rate.reshape({1, 2, 1, 1});
    in.resize(3);
    in.push_back(rate);
    expect_attends(
        {.score = [](const Tensors& t) { return spec::dot() | spec::functor(Fade{}, {t[3]}); }},
        in, softmax(dots - fade * wide));
  }
}

TEST(SpecFunctor, ALambdaLearnsItsTablesWithoutAFileOfItsOwn) {
  Tensors in = kSize.inputs();
  in.resize(3);
  in.push_back(random_tensor("rate", {2, 1}, 0.2, 1.0));
  const Tensor fade = number_pairs(kSize, [](auto, auto, auto i, auto j) {
    return std::log(1.0 + std::fabs(static_cast<double>(j - i)));
  });
  const auto fading = score::lambda<1>([](auto s, auto at, const auto& p) {
    return s - p.value(0) * log(1.0f + abs(real<decltype(s)>(at.k - at.q)));
  });
  const Tensor scores = dot_products(in[0], in[1]) - fade * in[3].reshape({1, 2, 1, 1});
  expect_attends(
      {.score = [&](const Tensors& t) { return spec::dot() | spec::functor(fading, {t[3]}); }},
      in, softmax(scores));
  // In a chain, before a modifier that the library knows.
  const auto capped = score::chain(fading, score::SoftCap{2.0f});
  expect_attends(
      {.score = [&](const Tensors& t) { return spec::dot() | spec::functor(capped, {t[3]}); }},
      in, softmax(tanh(scores * 0.5) * 2.0));
}

TEST(SpecFunctor, ALambdaChangesWeights) {
  Tensors in = kSize.inputs();
  const Tensor weights = softmax(dot_products(in[0], in[1]) * 0.5);
  in.push_back(random_tensor("gate", {2, 1}, 0.5, 1.5));
  const auto gated =
      score::lambda<1>([](auto w, auto, const auto& p) { return p.value(0) * w * w; });
  expect_attends({.normaliser =
                      [&](const Tensors& t) {
                        return spec::softmax() | spec::weight_functor(gated, {t[3]});
                      }},
                 in, weights * weights * in[3].reshape({1, 2, 1, 1}));
}

TEST(SpecFunctor, AUsersMaskIsMadeForTheSizes) {
  const Tensors in = kSize.inputs();
  const Tensor even =
      flag_pairs(kSize, [](auto, auto, auto i, auto j) { return (i + 2 - j) % 2 == 0; });
  const Mask keep =
      spec::mask_functor([](const spec::Problem& problem) { return Even{problem.offset({})}; });
  const Tensor scores = dot_products(in[0], in[1]) * 0.5;
  expect_attends({.keep = keep}, in, softmax(scores, -1, even));
  expect_attends({.keep = !spec::mask_functor(Even{2})}, in,
                 softmax(scores, -1, logical_not(even)));
}

TEST(SpecFunctor, AUsersWeightModifierMayBeAnyFunctionOfTheWeight) {
  Tensors in = kSize.inputs();
  const Tensor weights = softmax(dot_products(in[0], in[1]) * 0.5);
  in.push_back(random_tensor("gate", {2, 1}, 0.5, 1.5));
  expect_attends({.normaliser =
                      [](const Tensors& t) {
                        return spec::softmax() | spec::weight_functor(GatedSquare{}, {t[3]});
                      }},
                 in, weights * weights * in[3].reshape({1, 2, 1, 1}));
}

TEST(SpecFunctor, ANormaliserOfTheUsers) {
  const Tensors in = kSize.inputs();
  expect_attends(
      {.normaliser =
           [](const Tensors&) { return spec::normaliser_functor(normalise::Softmax{}); }},
      in, softmax(dot_products(in[0], in[1]) * 0.5));
}

TEST(SpecFunctor, TablesThatAreMissingOrTooManyAreRefused) {
  const Tensors in = kSize.inputs();
  const Tensor one = random_tensor("x", {1});
  const auto run = [&](const Tensors& tables) {
    attend(in[0], in[1], in[2], spec::dot() | spec::functor(Fade{}, tables));
  };
  EXPECT_THROW(run({}), InvalidArgument);
  EXPECT_THROW(run({one, one, one, one, one}), InvalidArgument);
  EXPECT_THROW(run({random_tensor("x", {3, 1})}), InvalidArgument);
}

}  // namespace
}  // namespace attn::test
