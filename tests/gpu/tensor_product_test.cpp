// Products by cuBLASLt against those of the CPU.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/ops.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "gpu/same_on_gpu.hpp"

namespace attn::test {
namespace {

constexpr DType kReal[] = {DType::f32, DType::f64, DType::bf16, DType::f16};

TEST(GpuProduct, MatmulAgreesWithTheCpu) {
  SKIP_WITHOUT_GPU();
  const std::vector<std::pair<Shape, Shape>> shapes{
      {{3, 5}, {5, 7}},           {{1, 1}, {1, 1}},          {{0, 3}, {3, 2}},
      {{2, 3}, {3, 0}},           {{2, 0}, {0, 3}},          {{4, 33, 65}, {4, 65, 17}},
      {{2, 3, 8, 9}, {3, 9, 10}}, {{5, 1, 4, 6}, {7, 6, 2}}, {{129, 70}, {70, 300}}};
  for (const DType dtype : kReal) {
    for (const auto& [first, second] : shapes) {
      const Tensor a = random_tensor("a", first).to(dtype);
      const Tensor b = random_tensor("b", second).to(dtype);
      expect_same_on_gpu(
          named("matmul " + first.text() + second.text(), dtype), {a, b},
          [](const Tensors& in) { return Tensors{matmul(in[0], in[1])}; },
          gpu_tolerance(dtype, 300));
    }
  }
}

TEST(GpuProduct, MatricesMayLieTurnedOrApart) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kReal) {
    const Tensor a = random_tensor("a", {6, 4, 9}).to(dtype);
    const Tensor b = random_tensor("b", {6, 5, 9}).to(dtype);
    expect_same_on_gpu(
        named("turned", dtype), {a, b},
        [](const Tensors& in) {
          const Tensor heads = in[0].reshape({6, 4, 3, 3}).transpose(1, 2);
          return Tensors{matmul(in[0], in[1].transpose(1, 2)),
                         matmul(in[0].transpose(0, 2), in[0].permute({2, 0, 1})),
                         matmul(heads, heads.transpose(2, 3)),
                         matmul(in[0].slice(2, 1, 8), in[1].slice(2, 2, 9).transpose(1, 2))};
        },
        gpu_tolerance(dtype, 40));
  }
}

TEST(GpuProduct, LinearIsFinishedInOneKernel) {
  SKIP_WITHOUT_GPU();
  const NoGrad off_the_tape;
  for (const DType dtype : kReal)
    for (const Shape& shape : {Shape{5}, Shape{2, 0, 5}, Shape{4, 7, 5}}) {
      const Tensor x = random_tensor("x", shape).to(dtype);
      const Tensor weight = random_tensor("weight", {6, 5}).to(dtype);
      const Tensor bias = random_tensor("bias", {6}).to(dtype);
      Shape out = shape;
      out[-1] = 6;
      const Tensor added = random_tensor("added", out).to(dtype);
      const auto there = [](const Tensor& one) { return one.to(Device::gpu); };
      const double within = gpu_tolerance(dtype, 20);
      expect_close(linear_relu(there(x), there(weight), there(bias)).to(Device::cpu),
                   linear_relu(x, weight, bias), within, named("relu", dtype));
      expect_close(linear_plus(there(x), there(weight), there(bias), there(added)),
                   linear_plus(x, weight, bias, added), within, named("plus", dtype));
      expect_close(linear_plus(there(x), there(weight), {}, there(added)),
                   linear_plus(x, weight, {}, added), within, named("no bias", dtype));
    }
}

TEST(GpuProduct, LinearAddsItsBias) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kReal) {
    for (const Shape& shape : {Shape{5}, Shape{3, 5}, Shape{2, 0, 5}, Shape{4, 7, 5}}) {
      const Tensor x = random_tensor("x", shape).to(dtype);
      const Tensor weight = random_tensor("weight", {9, 5}).to(dtype);
      const Tensor bias = random_tensor("bias", {9}).to(dtype);
      expect_same_on_gpu(
          named("linear " + shape.text(), dtype), {x, weight, bias},
          [](const Tensors& in) {
            return Tensors{linear(in[0], in[1], in[2]), linear(in[0], in[1])};
          },
          gpu_tolerance(dtype, 60));
    }
  }
}

TEST(GpuProduct, FloatsAreNotRoundedToTf32) {
  SKIP_WITHOUT_GPU();
  const Tensor a = random_tensor("a", {256, 512}).to(DType::f32);
  const Tensor b = random_tensor("b", {512, 256}).to(DType::f32);
  // TF32 keeps 10 bits: its sums of 512 products would be off by 1e-3 and more.
  expect_same_on_gpu(
      "256 x 512 x 256", {a, b},
      [](const Tensors& in) { return Tensors{matmul(in[0], in[1])}; }, 3e-5);
}

TEST(GpuProduct, LargeOnesOfFloatsAreAsGoodAsSmallOnes) {
  SKIP_WITHOUT_GPU();
  const Tensor a = random_tensor("a", {2048, 1024});
  const Tensor b = random_tensor("b", {1024, 3072});
  const Tensor bias = random_tensor("bias", {3072});
  const auto narrow = [](const Tensor& x) { return x.to(DType::f32).to(Device::gpu); };
  // What floats can hold, multiplied in double.
  const auto wide = [](const Tensor& x) { return x.to(DType::f32).to(DType::f64); };
  const auto off = [](const Tensor& got, const Tensor& want) {
    const Tensor apart = abs(got.to(Device::cpu).to(DType::f64) - want);
    return max(apart.reshape({apart.numel()}), 0).values.item();
  };
  const Tensor want = matmul(wide(a), wide(b));
  // Sums are of size 10. The matrix units cut off what they add, where floats are rounded: the
  // worst was off by 1.7e-4 on an H200.
  EXPECT_LT(off(matmul(narrow(a), narrow(b)), want), 4e-4);
  const Tensor turned = narrow(b.transpose(0, 1).contiguous()).transpose(0, 1);
  EXPECT_LT(off(matmul(narrow(a), turned), want), 4e-4);
  const Tensor left = narrow(a.transpose(0, 1).contiguous()).transpose(0, 1);
  EXPECT_LT(off(matmul(left, turned), want), 4e-4);
  EXPECT_LT(off(linear(narrow(a), turned.transpose(0, 1), narrow(bias)), want + wide(bias)),
            4e-4);
}

TEST(GpuProduct, Tf32OnlyWhenAsked) {
  SKIP_WITHOUT_GPU();
  const Tensor a = random_tensor("a", {256, 512}).to(DType::f32);
  const Tensor b = random_tensor("b", {512, 256}).to(DType::f32);
  const Tensor want = matmul(a, b);
  const auto made = [&] { return matmul(a.to(Device::gpu), b.to(Device::gpu)); };
  gpu::set_products(gpu::Products::tf32);
  const Tensor rounded = made();
  gpu::set_products(gpu::Products::full);
  expect_close(rounded, want, 3e-2);
  expect_close(made(), want, 3e-5);
  EXPECT_NE(rounded.to_vector<float>(), made().to_vector<float>());
}

}  // namespace
}  // namespace attn::test
