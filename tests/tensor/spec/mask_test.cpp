#include "attn/tensor/spec/mask.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/support/gradcheck.hpp"
#include "tensor/support/naive_attention.hpp"

namespace attn::test {
namespace {

using Flag = std::function<bool(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>;

const Small kSize;

/// The mask keeps what `flag` says, in values and gradients.
void expect_keeps(const Mask& keep, const Flag& flag) {
  const Tensors in = kSize.inputs();
  const Tensor scores = dot_products(in[0], in[1]) * 0.5;
  expect_attends({.keep = keep}, in, softmax(scores, -1, flag_pairs(kSize, flag)));
}

Tensor numbers(const std::vector<std::int64_t>& values, const Shape& shape) {
  return Tensor::from(values, shape);
}

TEST(SpecKeep, NothingIsMaskedUnlessAsked) {
  expect_keeps({}, [](auto, auto, auto, auto) { return true; });
  expect_keeps(spec::all(), [](auto, auto, auto, auto) { return true; });
}

TEST(SpecKeep, CausalMeetsTheLastKeyUnlessToldOtherwise) {
  expect_keeps(spec::causal(), [](auto, auto, auto i, auto j) { return j <= i + 2; });
  expect_keeps(spec::causal_top_left(), [](auto, auto, auto i, auto j) { return j <= i; });
  // The first query then sees nothing.
  expect_keeps(spec::causal(-1), [](auto, auto, auto i, auto j) { return j <= i - 1; });
}

TEST(SpecKeep, LengthsAreOfASequenceOrOfAQuery) {
  expect_keeps(spec::lengths(numbers({4, 0}, {2})),
               [](auto b, auto, auto, auto j) { return j < (b == 0 ? 4 : 0); });
  const Tensor each = numbers({5, 0, 2, 1, 3, 4}, {2, 3});
  expect_keeps(spec::lengths(each), [&](auto b, auto, auto i, auto j) {
    return j < each.data<std::int64_t>()[b * 3 + i];
  });
  // A view with strides of its own.
  const Tensor turned = numbers({5, 1, 0, 3, 2, 4}, {3, 2}).transpose(0, 1);
  expect_keeps(spec::lengths(turned), [&](auto b, auto, auto i, auto j) {
    return j < each.data<std::int64_t>()[b * 3 + i];
  });
}

TEST(SpecKeep, WindowsPrefixesAndDilation) {
  expect_keeps(spec::window(1, 0),
               [](auto, auto, auto i, auto j) { return i + 2 - 1 <= j && j <= i + 2; });
  expect_keeps(spec::window(-1, 1, 0), [](auto, auto, auto i, auto j) { return j <= i + 1; });
  expect_keeps(spec::prefix(2, 0), [](auto, auto, auto i, auto j) { return j < 2 || j <= i; });
  expect_keeps(spec::prefix(numbers({3, 1}, {2}), 0),
               [](auto b, auto, auto i, auto j) { return j < (b == 0 ? 3 : 1) || j <= i; });
  expect_keeps(spec::dilated(2),
               [](auto, auto, auto i, auto j) { return (i + 2 - j) % 2 == 0; });
  expect_keeps(spec::dilated(2, 1, 0), [](auto, auto, auto i, auto j) {
    return (i - j) % 2 == 0 && std::abs(i - j) <= 1;
  });
}

TEST(SpecKeep, DocumentsDoNotSeeEachOther) {
  const Tensor queries = numbers({0, 1, 1, 7, 7, 9}, {2, 3});
  const Tensor keys = numbers({0, 0, 1, 1, 2, 7, 8, 8, 7, 7}, {2, 5});
  expect_keeps(spec::documents(queries, keys), [&](auto b, auto, auto i, auto j) {
    return queries.data<std::int64_t>()[b * 3 + i] == keys.data<std::int64_t>()[b * 5 + j];
  });
  expect_keeps(spec::documents(queries.select(0, 0), keys), [&](auto b, auto, auto i, auto j) {
    return queries.data<std::int64_t>()[i] == keys.data<std::int64_t>()[b * 5 + j];
  });
}

TEST(SpecKeep, DenseFlagsBroadcast) {
  for (const Shape& shape : {Shape{3, 5}, Shape{1, 5}, Shape{2, 3, 5}, Shape{2, 3, 1},
                             Shape{1, 2, 3, 5}, Shape{2, 1, 1, 5}, Shape{2, 2, 3, 5}}) {
    const Tensor flags = random_mask("flags", shape);
    SCOPED_TRACE(flags.text());
    const Tensor wide =
        (shape.rank() == 3 ? flags.unsqueeze(1) : flags).expand(kSize.pairs()).contiguous();
    expect_keeps(spec::dense(flags), [&](auto b, auto h, auto i, auto j) {
      return wide.data<bool>()[((b * 2 + h) * 3 + i) * 5 + j];
    });
  }
  const Tensor flags = random_mask("flags", {5, 3});
  expect_keeps(spec::dense(flags.transpose(0, 1)),
               [&](auto, auto, auto i, auto j) { return flags.data<bool>()[j * 3 + i]; });
}

TEST(SpecKeep, BlocksOfPairs) {
  for (const Shape& shape : {Shape{2, 3}, Shape{2, 2, 3}, Shape{1, 2, 2, 3}}) {
    const Tensor blocks = random_mask("blocks", shape);
    SCOPED_TRACE(blocks.text());
    const Tensor wide =
        (shape.rank() == 3 ? blocks.unsqueeze(1) : blocks).expand({2, 2, 2, 3}).contiguous();
    expect_keeps(spec::block_sparse(blocks, 2, 2), [&](auto b, auto h, auto i, auto j) {
      return wide.data<bool>()[((b * 2 + h) * 2 + i / 2) * 3 + j / 2];
    });
  }
}

TEST(SpecKeep, AroundACentreOfEachQuery) {
  const Tensor centre = random_tensor("centre", {2, 3}, 0.0, 4.0);
  expect_keeps(spec::around(centre, 1.2), [&](auto b, auto, auto i, auto j) {
    return std::fabs(static_cast<double>(j) - centre.data<double>()[b * 3 + i]) <= 1.2;
  });
}

TEST(SpecKeep, MasksCombine) {
  const auto lengths = [](std::int64_t b) { return b == 0 ? 4 : 2; };
  const Mask valid = spec::lengths(numbers({4, 2}, {2}));
  expect_keeps(
      spec::causal() && valid && spec::window(2, 2),
      [&](auto b, auto, auto i, auto j) { return j <= i + 2 && j < lengths(b) && j >= i; });
  expect_keeps(spec::causal_top_left() || valid,
               [&](auto b, auto, auto i, auto j) { return j <= i || j < lengths(b); });
  expect_keeps(!(spec::causal_top_left() || valid),
               [&](auto b, auto, auto i, auto j) { return !(j <= i || j < lengths(b)); });
  expect_keeps(!!valid && !spec::window(0, 0, 0),
               [&](auto b, auto, auto i, auto j) { return j < lengths(b) && i != j; });
  expect_keeps(spec::all() && valid,
               [&](auto b, auto, auto, auto j) { return j < lengths(b); });
  expect_keeps(spec::all() || valid, [](auto, auto, auto, auto) { return true; });
  expect_keeps(!spec::all(), [](auto, auto, auto, auto) { return false; });
}

TEST(SpecKeep, MasksOwnWhatTheyPointToUntilBackward) {
  Tensor q = random_tensor("q", {2, 3, 4}).set_requires_grad();
  const Tensor k = random_tensor("k", {2, 5, 4});
  Tensor output;
  {
    const Tensor flags = random_mask("flags", {3, 5});
    output = attend(q, k, k, spec::scaled_dot(),
                    spec::lengths(numbers({4, 2}, {2})) && spec::dense(flags.clone()) &&
                        spec::documents(numbers({0, 0, 0}, {3}), numbers({0, 0, 0, 1, 0}, {5})))
                 .output;
  }
  output.backward(Tensor::full(output.shape(), 1.0, DType::f64));
  EXPECT_TRUE(q.grad().defined());
}

TEST(SpecKeep, WritingToFlagsBeforeBackwardIsNoticed) {
  Tensor q = random_tensor("q", {2, 3, 4}).set_requires_grad();
  const Tensor k = random_tensor("k", {2, 5, 4});
  Tensor flags = random_mask("flags", {3, 5});
  const Tensor output = attend(q, k, k, spec::scaled_dot(), spec::dense(flags)).output;
  flags.fill(1.0);
  EXPECT_THROW(output.backward(Tensor::full(output.shape(), 1.0, DType::f64)), InvalidArgument);
}

TEST(SpecKeep, WrongMasksAreRefused) {
  const Tensors in = kSize.inputs();
  const auto run = [&](const Mask& keep) { attend(in[0], in[1], in[2], spec::dot(), keep); };
  EXPECT_THROW(run(spec::lengths(numbers({4, 6}, {2}))), InvalidArgument);
  EXPECT_THROW(run(spec::lengths(numbers({4, -1}, {2}))), InvalidArgument);
  EXPECT_THROW(run(spec::lengths(numbers({4}, {1}))), InvalidArgument);
  EXPECT_THROW(run(spec::lengths(numbers({1, 2, 3, 4}, {2, 2}))), InvalidArgument);
  EXPECT_THROW(spec::lengths(random_tensor("x", {2})), InvalidArgument);
  EXPECT_THROW(spec::lengths(Tensor()), InvalidArgument);
  EXPECT_THROW(run(spec::prefix(numbers({4}, {1}))), InvalidArgument);
  EXPECT_THROW(run(spec::dense(random_mask("x", {5, 3}))), InvalidArgument);
  EXPECT_THROW(run(spec::dense(random_mask("x", {3, 3, 5}))), InvalidArgument);
  EXPECT_THROW(spec::dense(random_tensor("x", {3, 5})), InvalidArgument);
  EXPECT_THROW(spec::dense(random_mask("x", {5})), InvalidArgument);
  EXPECT_THROW(run(spec::documents(numbers({1}, {1}), numbers({1}, {1}))), InvalidArgument);
  EXPECT_THROW(run(spec::block_sparse(random_mask("x", {1, 3}), 2, 2)), InvalidArgument);
  EXPECT_THROW(spec::block_sparse(random_mask("x", {1, 3}), 0, 2), InvalidArgument);
  EXPECT_THROW(spec::dilated(0), InvalidArgument);
  EXPECT_THROW(run(spec::around(random_tensor("x", {3, 2}), 1.0)), InvalidArgument);
  EXPECT_THROW(run(spec::causal(std::int64_t{1} << 40)), InvalidArgument);
}

}  // namespace
}  // namespace attn::test
