// Tensors in the GPU's memory: making, moving, reading, and what is refused.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/ops.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "gpu/same_on_gpu.hpp"

namespace attn::test {
namespace {

constexpr DType kAll[] = {DType::f64, DType::f32, DType::bf16,
                          DType::f16, DType::i64, DType::boolean};

template <class Run>
std::string message_of(const Run& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(GpuMemory, TensorsTravelThereAndBackInEveryType) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kAll) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{3, 0, 2}, Shape{7, 5, 3}}) {
      const Tensor x = random_tensor("travel", shape, -3.0, 3.0).to(dtype);
      const Tensor there = x.to(Device::gpu);
      EXPECT_EQ(there.device(), Device::gpu);
      expect_close(there, x, 0.0, named("to " + shape.text(), dtype));
      if (shape.rank() == 3) {
        const Tensor turned = there.permute({2, 0, 1});
        expect_close(turned, x.permute({2, 0, 1}), 0.0, "turned");
        expect_close(x.permute({2, 0, 1}).to(Device::gpu), x.permute({2, 0, 1}), 0.0, "sent");
      }
    }
  }
}

TEST(GpuMemory, ConvertsAsTheCpuDoes) {
  SKIP_WITHOUT_GPU();
  const Tensor x = random_tensor("convert", {4, 33}, -5.0, 5.0);
  for (const DType from : kAll) {
    for (const DType to : kAll) {
      const Tensor source = x.to(from);
      const Tensor want = source.slice(1, 1, 30).to(to);
      expect_close(source.to(Device::gpu).slice(1, 1, 30).to(to), want, 0.0,
                   std::string(name_of(from)) + " to " + std::string(name_of(to)));
    }
  }
}

TEST(GpuMemory, FactoriesAndWritesInPlace) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kAll) {
    expect_close(Tensor::zeros({3, 4}, dtype, Device::gpu), Tensor::zeros({3, 4}, dtype), 0.0);
    expect_close(Tensor::full({5}, 1.0, dtype, Device::gpu), Tensor::full({5}, 1.0, dtype),
                 0.0);
    expect_close(Tensor::arange(9, dtype, Device::gpu), Tensor::arange(9, dtype), 0.0);
  }
  Tensor x = Tensor::zeros({4, 6}, DType::f32, Device::gpu);
  x.slice(1, 2, 4).fill(2.5);
  x.transpose(0, 1).slice(0, 0, 1).copy_from(Tensor::arange(4, DType::f32));
  Tensor want = Tensor::zeros({4, 6});
  want.slice(1, 2, 4).fill(2.5);
  want.transpose(0, 1).slice(0, 0, 1).copy_from(Tensor::arange(4, DType::f32));
  expect_close(x, want, 0.0);
  EXPECT_EQ(Tensor::full({1}, 7.0, DType::bf16, Device::gpu).item(), 7.0);
  EXPECT_EQ(Tensor::arange(3, DType::i64, Device::gpu).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(GpuMemory, MovingIsDifferentiable) {
  SKIP_WITHOUT_GPU();
  Tensor x = random_tensor("moved", {3, 5}).to(DType::f32);
  x.set_requires_grad();
  sum(square(x.to(Device::gpu)).to(Device::cpu) * 3.0).backward();
  EXPECT_EQ(x.grad().device(), Device::cpu);
  expect_close(x.grad(), x.detach() * 6.0, 1e-6);
}

TEST(GpuMemory, ViewsAndTheirGradientsAgreeWithTheCpu) {
  SKIP_WITHOUT_GPU();
  const Tensor x = random_tensor("views", {4, 3, 6}).to(DType::f32);
  expect_same_on_gpu(
      "views", {x},
      [](const Tensors& in) {
        const Tensor part = in[0].slice(2, 1, 5).transpose(0, 2);
        return Tensors{part.reshape({-1}), part.select(1, 2), in[0].unsqueeze(1).flatten(0, 2),
                       in[0].slice(0, 1, 2).expand({5, 3, 6})};
      },
      1e-6);
}

TEST(GpuRotary, TurnsAsTheCpuDoes) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    const Tensor x = random_tensor("x", {2, 5, 3, 8}).to(dtype);
    const Tensor positions = random_ids("positions", {2, 5}, 0, 40);
    expect_same_on_gpu(
        named("rotary", dtype), {x},
        [&](const Tensors& in) {
          const Tensor heads = in[0].transpose(1, 2);
          return Tensors{rotary(heads), rotary(heads, 7, {.rotary_dim = 6}),
                         rotary(heads, positions, {.pairs = RotaryPairs::interleaved}),
                         rotary(in[0].select(2, 1), 3)};
        },
        gpu_tolerance(dtype, 4));
  }
}

TEST(GpuMemory, WhatTheCpuWouldReadIsRefused) {
  SKIP_WITHOUT_GPU();
  const Tensor x = Tensor::zeros({2, 3}, DType::f32, Device::gpu);
  EXPECT_THROW(x.data<float>(), Unsupported);
  EXPECT_THROW(x.mutable_data<float>(), Unsupported);
  EXPECT_THROW(x.raw(), Unsupported);
}

TEST(GpuMemory, TwoDevicesInOneOpAreRefused) {
  SKIP_WITHOUT_GPU();
  const Tensor here = Tensor::zeros({2, 2});
  const Tensor there = here.to(Device::gpu);
  const Tensor ids = Tensor::zeros({2}, DType::i64);
  for (const auto& message :
       {message_of([&] { add(here, there); }), message_of([&] { matmul(there, here); }),
        message_of([&] { linear(there, here); }), message_of([&] { embedding(there, ids); }),
        message_of([&] { concat({there, here}, 0); }),
        message_of([&] { cross_entropy(there, ids); }),
        message_of([&] { layer_norm(there, Tensor::zeros({2}), {}); }),
        message_of([&] { where(Tensor::zeros({2, 2}, DType::boolean), there, there); })})
    EXPECT_NE(message.find("device"), std::string::npos) << message;
}

TEST(GpuMemory, AnIdOutsideItsTableIsReportedWhenTheGpuIsWaitedFor) {
  SKIP_WITHOUT_GPU();
  const Tensor table = Tensor::zeros({5, 3}, DType::f32, Device::gpu);
  const Tensor ids = Tensor::from(std::vector<std::int64_t>{1, 7, 2}, {3}).to(Device::gpu);
  const Tensor rows = embedding(table, ids);
  const std::string message = message_of([&] { rows.to_vector<float>(); });
  EXPECT_NE(message.find("attn::embedding: id 7; 0 to 4"), std::string::npos) << message;
  EXPECT_EQ(rows.to_vector<float>().size(), 9u);  // told once
}

TEST(GpuMemory, ThreadsHaveStreamsOfTheirOwn) {
  SKIP_WITHOUT_GPU();
  Tensor made;
  gpu::Stream other = nullptr;
  std::thread([&] {
    other = gpu::stream();
    made = Tensor::full({1000}, 2.0, DType::f32, Device::gpu) * 3.0;
    gpu::synchronise();
  }).join();
  EXPECT_NE(other, gpu::stream());
  EXPECT_EQ(sum(made).item(), 6000.0);
}

TEST(GpuMemory, RandomNumbersAreThoseOfTheCpu) {
  SKIP_WITHOUT_GPU();
  for (const Shape& shape : {Shape{0}, Shape{1}, Shape{3, 7}, Shape{1000}}) {
    attn::Random here(7);
    attn::Random there(7);
    expect_close(uniform(shape, -2.0, 3.0, there, DType::f32, Device::gpu),
                 uniform(shape, -2.0, 3.0, here), 1e-7);
    expect_close(normal(shape, 1.0, 2.0, there, DType::f32, Device::gpu),
                 normal(shape, 1.0, 2.0, here), 1e-6);
  }
}

TEST(GpuMemory, DropoutDropsWhatTheCpuDrops) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    for (const Shape& shape : {Shape{0}, Shape{1}, Shape{63}, Shape{3, 67}, Shape{5000}}) {
      const Tensor x = random_tensor("dropout", shape, 0.5, 1.0).to(dtype);
      expect_same_on_gpu(
          named("dropout " + shape.text(), dtype), {x},
          [](const Tensors& in) {
            attn::Random random(3);
            return Tensors{dropout(in[0], 0.3, random)};
          },
          gpu_tolerance(dtype));
    }
  }
}

}  // namespace
}  // namespace attn::test
