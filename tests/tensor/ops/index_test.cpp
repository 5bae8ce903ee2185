#include "attn/tensor/ops/index.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn {
namespace {

using test::expect_close;
using test::expect_gradients;
using test::expect_same_in_float;
using test::random_ids;
using test::random_tensor;
using test::Tensors;

Tensor ids(const std::vector<std::int64_t>& values, const Shape& shape) {
  return Tensor::from(values, shape);
}

TEST(Embedding, TakesRowsOfTheTable) {
  const Tensor table = Tensor::from(std::vector<float>{0, 1, 10, 11, 20, 21}, {3, 2});
  const Tensor y = embedding(table, ids({2, 0, 2, 1}, {2, 2}));
  EXPECT_EQ(y.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{20, 21, 0, 1, 20, 21, 10, 11}));
}

TEST(Embedding, AddsTheGradientsOfRowsTakenTwice) {
  Tensor table = Tensor::zeros({4, 2}).set_requires_grad();
  embedding(table, ids({3, 1, 3}, {3}))
      .backward(Tensor::from(std::vector<float>{1, 2, 4, 8, 16, 32}, {3, 2}));
  EXPECT_EQ(table.grad().to_vector<float>(), (std::vector<float>{0, 0, 4, 8, 0, 0, 17, 34}));
}

TEST(Embedding, GradientsAreThoseOfDifferences) {
  const auto f = [](const Tensors& in) { return Tensors{embedding(in[0], in[1])}; };
  const Tensors inputs{random_tensor("table", {5, 3}), random_ids("ids", {4, 2}, 0, 4)};
  expect_gradients(f, inputs);
  expect_same_in_float(f, inputs);
}

TEST(Embedding, OfALargeTableIsTheProductWithOneHotRows) {
  // Larger than one block of work, with a row that is taken very often.
  Tensor table = random_tensor("table", {700, 96}, -1.0, 1.0, DType::f32).set_requires_grad();
  const Tensor chosen =
      maximum(random_ids("ids", {1500}, -300, 699).to(DType::f32), Tensor::zeros({1500}))
          .to(DType::i64);
  const Tensor seed = random_tensor("seed", {1500, 96}, -1.0, 1.0, DType::f32);
  embedding(table, chosen).backward(seed);
  std::vector<double> want(700 * 96);
  const std::vector<std::int64_t> rows = chosen.to_vector<std::int64_t>();
  const std::vector<float> grads = seed.to_vector<float>();
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < 96; ++j)
      want[static_cast<std::size_t>(rows[i]) * 96 + j] += double{grads[i * 96 + j]};
  expect_close(table.grad(), Tensor::from(want, {700, 96}), test::tolerance(DType::f32, 500));
}

TEST(Embedding, NamesTheIdThatIsOutsideTheTable) {
  const Tensor table = Tensor::zeros({3, 2});
  for (const std::int64_t bad : {-1, 3, 77}) {
    try {
      embedding(table, ids({0, bad}, {2}));
      FAIL() << "id " << bad << " was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("id " + std::to_string(bad)), std::string::npos)
          << error.what();
    }
  }
  EXPECT_THROW(embedding(table, Tensor::zeros({2})), InvalidArgument);
  EXPECT_THROW(embedding(Tensor::zeros({3}), ids({0}, {1})), InvalidArgument);
}

TEST(Embedding, OfNoIdsIsNothing) {
  Tensor table = Tensor::zeros({3, 2}).set_requires_grad();
  const Tensor y = embedding(table, Tensor::zeros({0, 4}, DType::i64));
  EXPECT_EQ(y.shape(), (Shape{0, 4, 2}));
  y.backward(Tensor::zeros({0, 4, 2}));
  expect_close(table.grad(), Tensor::zeros({3, 2}), 0.0);
}

TEST(IndexSelect, TakesPlacesAlongAnyAxis) {
  const Tensor x = Tensor::from(std::vector<float>{0, 1, 2, 3, 4, 5}, {2, 3});
  EXPECT_EQ(index_select(x, 1, ids({2, 2, 0}, {3})).to_vector<float>(),
            (std::vector<float>{2, 2, 0, 5, 5, 3}));
  EXPECT_EQ(index_select(x, 0, ids({1}, {1})).to_vector<float>(),
            (std::vector<float>{3, 4, 5}));
  const Tensor whole = index_select(Tensor::arange(4), 0, ids({3, 1}, {2}));
  EXPECT_EQ(whole.to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, 1}));
}

TEST(IndexSelect, GradientsAreThoseOfDifferences) {
  for (const int axis : {0, 1, 2}) {
    const auto f = [&](const Tensors& in) {
      return Tensors{index_select(in[0].transpose(0, 2), axis, in[1])};
    };
    expect_gradients(f, {random_tensor("x", {2, 3, 2}), random_ids("index", {5}, 0, 1)});
    expect_same_in_float(f, {random_tensor("x", {2, 3, 2}), random_ids("index", {5}, 0, 1)});
  }
}

TEST(Gather, TakesANumberForEveryPlace) {
  const Tensor x = Tensor::from(std::vector<float>{0, 1, 2, 3, 4, 5}, {2, 3});
  EXPECT_EQ(gather(x, 1, ids({2, 0, 1, 1}, {2, 2})).to_vector<float>(),
            (std::vector<float>{2, 0, 4, 4}));
  EXPECT_EQ(gather(x, 0, ids({1, 0, 1}, {1, 3})).to_vector<float>(),
            (std::vector<float>{3, 1, 5}));
}

TEST(Gather, GradientsAreThoseOfDifferences) {
  for (const int axis : {0, 1, 2}) {
    Shape shape{3, 3, 3};
    shape[axis] = 5;
    const auto f = [&](const Tensors& in) { return Tensors{gather(in[0], axis, in[1])}; };
    const Tensors inputs{random_tensor("x", {3, 3, 3}), random_ids("index", shape, 0, 2)};
    expect_gradients(f, inputs);
    expect_same_in_float(f, inputs);
  }
}

TEST(ScatterAdd, AddsWhatMeetsAtAPlace) {
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 4, 8}, {2, 2});
  EXPECT_EQ(scatter_add(x, 1, ids({0, 0, 2, 1}, {2, 2}), 3).to_vector<float>(),
            (std::vector<float>{3, 0, 0, 0, 8, 4}));
}

TEST(ScatterAdd, GradientsAreThoseOfDifferences) {
  for (const int axis : {0, 1}) {
    const auto f = [&](const Tensors& in) {
      return Tensors{scatter_add(in[0], axis, in[1], 6)};
    };
    const Tensors inputs{random_tensor("x", {4, 5}), random_ids("index", {4, 5}, 0, 5)};
    expect_gradients(f, inputs);
    expect_same_in_float(f, inputs);
  }
}

TEST(ScatterAdd, WithLongRowsEqualsTheSumOverEveryPlace) {
  // Longer than a strip of columns.
  const Tensor x = random_tensor("x", {3, 2500}, -1.0, 1.0, DType::f32);
  const Tensor all = scatter_add(x, 0, Tensor::zeros({3, 2500}, DType::i64), 1);
  expect_close(all, sum(x, 0, Axis::keep), test::tolerance(DType::f32, 3));
}

TEST(Gather, RefusesWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_THROW(gather(x, 1, ids({0, 3}, {2, 1})), InvalidArgument);
  EXPECT_THROW(gather(x, 1, ids({0, -1}, {2, 1})), InvalidArgument);
  EXPECT_THROW(gather(x, 1, ids({0}, {1, 1})), InvalidArgument);
  EXPECT_THROW(gather(x, 1, ids({0}, {1})), InvalidArgument);
  EXPECT_THROW(gather(x, 1, Tensor::zeros({2, 1})), InvalidArgument);
  EXPECT_THROW(scatter_add(x, 1, ids({0, 1}, {2, 1}), 3), InvalidArgument);
  EXPECT_THROW(scatter_add(x, 1, Tensor::full({2, 3}, 3, DType::i64), 3), InvalidArgument);
  EXPECT_THROW(index_select(x, 1, ids({3}, {1})), InvalidArgument);
  EXPECT_THROW(index_select(x, 2, ids({0}, {1})), InvalidArgument);
  EXPECT_THROW(index_select(x, 1, ids({0}, {1, 1})), InvalidArgument);
}

TEST(Gather, OfNothingIsNothing) {
  EXPECT_EQ(gather(Tensor::zeros({2, 0}), 1, Tensor::zeros({2, 0}, DType::i64)).shape(),
            (Shape{2, 0}));
  EXPECT_EQ(scatter_add(Tensor::zeros({2, 0}), 1, Tensor::zeros({2, 0}, DType::i64), 3)
                .to_vector<float>(),
            std::vector<float>(6, 0.0f));
  EXPECT_EQ(index_select(Tensor::zeros({2, 3}), 1, Tensor::zeros({0}, DType::i64)).shape(),
            (Shape{2, 0}));
}

}  // namespace
}  // namespace attn
