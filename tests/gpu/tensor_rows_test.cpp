// Reductions, softmax, layer normalisation and losses on the GPU against the CPU.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tensor/ops.hpp"
#include "attn/tensor/tensor.hpp"
#include "gpu/same_on_gpu.hpp"

namespace attn::test {
namespace {

constexpr DType kReal[] = {DType::f32, DType::f64, DType::bf16};

TEST(GpuReduce, SumsAndMeansOverEveryAxis) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kReal) {
    for (const Shape& shape : {Shape{1}, Shape{0, 4}, Shape{4, 0}, Shape{5, 3, 7},
                               Shape{2, 700, 3}, Shape{3, 2, 1500}, Shape{40, 65}}) {
      const Tensor x = random_tensor("sum", shape).to(dtype);
      const int length = static_cast<int>(shape.numel());
      for (int axis = 0; axis < shape.rank(); ++axis)
        expect_same_on_gpu(
            named("sum of " + shape.text() + " over " + std::to_string(axis), dtype), {x},
            [axis](const Tensors& in) {
              return Tensors{sum(in[0], axis), mean(in[0], axis, Axis::keep)};
            },
            gpu_tolerance(dtype, length));
      expect_same_on_gpu(
          named("sum of all of " + shape.text(), dtype), {x},
          [](const Tensors& in) { return Tensors{sum(in[0]), mean(in[0])}; },
          gpu_tolerance(dtype, length));
    }
  }
}

TEST(GpuReduce, LongSumsAreCutIntoParts) {
  SKIP_WITHOUT_GPU();
  for (const Shape& shape : {Shape{300001}, Shape{20000, 5}, Shape{3000, 130}}) {
    const Tensor x = random_tensor("long", shape).to(DType::f32);
    expect_same_on_gpu(
        "sum " + shape.text(), {x},
        [](const Tensors& in) { return Tensors{sum(in[0]), sum(in[0], 0)}; },
        gpu_tolerance(DType::f32, 300001));
  }
}

TEST(GpuReduce, TheLargestOfEachRowAndTheirPlaces) {
  SKIP_WITHOUT_GPU();
  for (const std::int64_t columns : {0, 1, 3, 60, 1025, 5000}) {
    // Whole numbers, so that many are equal.
    Tensor x = random_ids("top", {5, columns}, -9, 9).to(DType::f32);
    if (columns > 3) {
      x.slice(0, 1, 2).fill(-std::numeric_limits<double>::infinity());
      x.slice(0, 2, 3).slice(1, 1, columns).fill(std::numeric_limits<double>::quiet_NaN());
    }
    for (const std::int64_t count : {0, 1, 10, 33}) {
      EXPECT_EQ(top(x.to(Device::gpu), count).to_vector<double>(),
                top(x, count).to_vector<double>())
          << columns;
    }
  }
}

TEST(GpuReduce, MaximaAndTheirPlaces) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kReal) {
    const Tensor x = random_tensor("max", {4, 6, 5}).to(dtype);
    for (int axis = 0; axis < 3; ++axis)
      expect_same_on_gpu(
          named("max", dtype), {x},
          [axis](const Tensors& in) {
            const Maximum found = max(in[0].transpose(0, 2), axis);
            return Tensors{found.values, found.indices, argmax(in[0], axis)};
          },
          gpu_tolerance(dtype));
  }
}

TEST(GpuSoftmax, AgreesWithTheCpuAlongEveryAxis) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kReal) {
    for (const Shape& shape : {Shape{1, 1}, Shape{3, 0}, Shape{0, 3}, Shape{7, 33},
                               Shape{2, 5, 1500}, Shape{4, 3, 9}}) {
      const Tensor x = random_tensor("softmax", shape, -4.0, 4.0).to(dtype);
      for (int axis = 0; axis < shape.rank(); ++axis)
        expect_same_on_gpu(
            named("softmax of " + shape.text(), dtype), {x},
            [axis](const Tensors& in) {
              return Tensors{softmax(in[0], axis), log_softmax(in[0], axis)};
            },
            gpu_tolerance(dtype, static_cast<int>(shape[axis]) + 1));
    }
  }
}

TEST(GpuSoftmax, MasksBroadcastAndEmptyRowsAreZero) {
  SKIP_WITHOUT_GPU();
  const Tensor x = random_tensor("x", {2, 3, 4, 9}, -3.0, 3.0).to(DType::f32);
  Tensor keep = random_mask("keep", {2, 1, 1, 9});
  keep.slice(0, 1, 2).fill(0.0);
  const Tensor other = random_mask("other", {4, 1});
  expect_same_on_gpu(
      "masked", {x, keep, other},
      [](const Tensors& in) {
        return Tensors{softmax(in[0], -1, in[1]), softmax(in[0], -1, in[2]),
                       softmax(in[0], 2, in[2])};
      },
      gpu_tolerance(DType::f32));
  Tensor low = random_tensor("low", {3, 5}).to(DType::f32);
  low.slice(0, 1, 2).fill(-std::numeric_limits<double>::infinity());
  expect_same_on_gpu(
      "minus infinity", {low}, [](const Tensors& in) { return Tensors{softmax(in[0])}; },
      gpu_tolerance(DType::f32));
}

TEST(GpuLayerNorm, AgreesWithTheCpu) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kReal) {
    for (const Shape& shape : {Shape{1, 1}, Shape{5}, Shape{0, 4}, Shape{3, 7, 65},
                               Shape{2, 1500}, Shape{600, 33}}) {
      const Tensor x = random_tensor("x", shape, -2.0, 3.0).to(dtype);
      const Tensor weight = random_tensor("weight", {shape[-1]}, 0.5, 1.5).to(dtype);
      const Tensor bias = random_tensor("bias", {shape[-1]}).to(dtype);
      expect_same_on_gpu(
          named("layer_norm " + shape.text(), dtype), {x, weight, bias},
          [](const Tensors& in) {
            return Tensors{layer_norm(in[0], in[1], in[2]), layer_norm(in[0], {}, {})};
          },
          8 * gpu_tolerance(dtype, static_cast<int>(shape.numel()) + 1));
    }
  }
}

TEST(GpuCrossEntropy, AgreesWithTheCpu) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kReal) {
    for (const Shape& shape : {Shape{3, 5, 7}, Shape{4, 1500}, Shape{1, 1}, Shape{500, 33}}) {
      for (const double smoothing : {0.0, 0.1}) {
        const Tensor x = random_tensor("logits", shape, -3.0, 3.0).to(dtype);
        Shape rows = shape;
        rows.erase(-1);
        const Tensor ids = random_ids("targets", rows, -1, static_cast<int>(shape[-1]) - 1);
        expect_same_on_gpu(
            named("cross_entropy " + shape.text(), dtype), {x, ids},
            [=](const Tensors& in) {
              return Tensors{cross_entropy(in[0], in[1], {smoothing, -1})};
            },
            gpu_tolerance(dtype, static_cast<int>(shape.numel())));
      }
    }
  }
}

TEST(GpuCrossEntropy, OfNothingIsZeroAndMeanSquaresAgree) {
  SKIP_WITHOUT_GPU();
  const Tensor x = random_tensor("x", {4, 3}).to(DType::f32);
  const Tensor ignored = Tensor::full({4}, -1.0, DType::i64);
  expect_same_on_gpu(
      "ignored", {x, ignored},
      [](const Tensors& in) {
        return Tensors{cross_entropy(in[0], in[1]), mean_squared_error(in[0], in[0] * 2.0)};
      },
      gpu_tolerance(DType::f32, 12));
}

}  // namespace
}  // namespace attn::test
