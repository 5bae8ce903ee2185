// Convolutions, pooling and batch normalisation on the GPU against the CPU.

#include <gtest/gtest.h>

#include "attn/core/dtype.hpp"
#include "attn/tensor/ops.hpp"
#include "attn/tensor/tensor.hpp"
#include "gpu/same_on_gpu.hpp"

namespace attn::test {
namespace {

constexpr DType kReal[] = {DType::f32, DType::f64, DType::bf16};

TEST(GpuConv, OneAxisAgreesWithTheCpu) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kReal) {
    const Tensor x = random_tensor("x", {3, 4, 11}).to(dtype);
    const Tensor weight = random_tensor("weight", {5, 4, 3}).to(dtype);
    const Tensor bias = random_tensor("bias", {5}).to(dtype);
    expect_same_on_gpu(
        named("conv1d", dtype), {x, weight, bias},
        [](const Tensors& in) {
          return Tensors{
              conv1d(in[0], in[1], in[2]), conv1d(in[0], in[1]),
              conv1d(in[0], in[1], in[2], {.stride = 2, .pad_before = 2, .pad_after = 1}),
              conv1d(in[0], in[1], in[2], {.pad_before = 4, .dilation = 2})};
        },
        gpu_tolerance(dtype, 100));
  }
}

TEST(GpuConv, TwoAxesAgreeWithTheCpu) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kReal) {
    const Tensor x = random_tensor("x", {2, 3, 7, 9}).to(dtype);
    const Tensor weight = random_tensor("weight", {4, 3, 3, 2}).to(dtype);
    const Tensor bias = random_tensor("bias", {4}).to(dtype);
    expect_same_on_gpu(
        named("conv2d", dtype), {x, weight, bias},
        [](const Tensors& in) {
          return Tensors{conv2d(in[0], in[1], in[2]),
                         conv2d(in[0].transpose(2, 3), in[1], in[2],
                                {.stride = {2, 1}, .pad = {1, 2}, .dilation = {1, 2}})};
        },
        gpu_tolerance(dtype, 200));
  }
}

TEST(GpuPool, TheLargestOfEachBlock) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kReal) {
    const Tensor x = random_tensor("x", {2, 3, 7, 8}).to(dtype);
    expect_same_on_gpu(
        named("max_pool_by_two", dtype), {x},
        [](const Tensors& in) {
          return Tensors{max_pool_by_two(in[0], 2), max_pool_by_two(in[0], 3)};
        },
        gpu_tolerance(dtype));
  }
}

TEST(GpuBatchNorm, TrainsAndKeepsStatisticsAsTheCpuDoes) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = random_tensor("x", {4, 3, 5, 6}, -1.0, 3.0).to(dtype);
    const Tensor weight = random_tensor("weight", {3}, 0.5, 1.5).to(dtype);
    const Tensor bias = random_tensor("bias", {3}).to(dtype);
    expect_same_on_gpu(
        named("batch_norm", dtype), {x, weight, bias},
        [&](const Tensors& in) {
          const Device device = in[0].device();
          const RunningStatistics running{Tensor::zeros({3}, dtype, device),
                                          Tensor::full({3}, 1.0, dtype, device)};
          const Tensor trained =
              batch_norm(in[0], in[1], in[2], running, Phase::train, 0.1, 1e-5);
          const Tensor plain = batch_norm(in[0], {}, {}, running, Phase::eval, 0.1, 1e-5);
          return Tensors{trained, plain, running.mean, running.variance};
        },
        8 * gpu_tolerance(dtype, 400));
  }
}

}  // namespace
}  // namespace attn::test
