// Looking up, adding back, joining and padding on the GPU against the CPU.

#include <gtest/gtest.h>

#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tensor/ops.hpp"
#include "attn/tensor/tensor.hpp"
#include "gpu/same_on_gpu.hpp"

namespace attn::test {
namespace {

constexpr DType kReal[] = {DType::f32, DType::f64, DType::bf16};

TEST(GpuIndex, EmbeddingsAddTheirGradientsInOrder) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kReal) {
    for (const Shape& shape : {Shape{0}, Shape{1}, Shape{3, 5}, Shape{40, 30}}) {
      const Tensor weight = random_tensor("weight", {11, 70}).to(dtype);
      const Tensor ids = random_ids("ids", shape, 0, 10);
      expect_same_on_gpu(
          named("embedding " + shape.text(), dtype), {weight, ids},
          [](const Tensors& in) { return Tensors{embedding(in[0], in[1])}; },
          gpu_tolerance(dtype, 200));
    }
  }
}

TEST(GpuIndex, TheSameGradientBitForBitEachTime) {
  SKIP_WITHOUT_GPU();
  const Tensor ids = random_ids("ids", {4000}, 0, 2).to(Device::gpu);
  const Tensor seed = random_tensor("seed", {4000, 33}).to(DType::f32).to(Device::gpu);
  std::vector<std::vector<float>> seen;
  for (int run = 0; run < 3; ++run) {
    Tensor weight = Tensor::zeros({5, 33}, DType::f32, Device::gpu);
    weight.set_requires_grad();
    embedding(weight, ids).backward(seed);
    seen.push_back(weight.grad().to_vector<float>());
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
}

TEST(GpuIndex, SelectsAlongAnyAxis) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kReal) {
    const Tensor x = random_tensor("x", {4, 5, 6}).to(dtype);
    const Tensor index = random_ids("index", {9}, 0, 3);
    for (int axis = 0; axis < 3; ++axis)
      expect_same_on_gpu(
          named("index_select", dtype), {x, index},
          [axis](const Tensors& in) {
            return Tensors{index_select(in[0], axis, in[1]),
                           index_select(in[0].transpose(0, 2), axis, in[1])};
          },
          gpu_tolerance(dtype, 9));
  }
}

TEST(GpuIndex, GathersAndScatters) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kReal) {
    const Tensor x = random_tensor("x", {4, 5, 6}).to(dtype);
    for (int axis = 0; axis < 3; ++axis) {
      Shape shape = x.shape();
      shape[axis] = 7;
      const Tensor index = random_ids("index", shape, 0, static_cast<int>(x.size(axis)) - 1);
      const Tensor places = random_ids("places", x.shape(), 0, 2);
      expect_same_on_gpu(
          named("gather", dtype), {x, index, places},
          [axis](const Tensors& in) {
            return Tensors{gather(in[0], axis, in[1]), scatter_add(in[0], axis, in[2], 4)};
          },
          gpu_tolerance(dtype, 9));
    }
  }
}

TEST(GpuJoin, ConcatStackAndPad) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kReal) {
    const Tensor a = random_tensor("a", {3, 4, 5}).to(dtype);
    const Tensor b = random_tensor("b", {3, 2, 5}).to(dtype);
    const Tensor none = random_tensor("none", {3, 0, 5}).to(dtype);
    expect_same_on_gpu(
        named("join", dtype), {a, b, none},
        [](const Tensors& in) {
          return Tensors{concat({in[0], in[1], in[2], in[0]}, 1),
                         concat({in[0].transpose(1, 2), in[1].transpose(1, 2)}, 2),
                         stack({in[0], in[0] * 2.0}, 1),
                         pad(in[0], 0, 1, 0),
                         pad(in[1], 2, 2, 3),
                         pad(in[0].transpose(0, 2), 1, 0, 2)};
        },
        gpu_tolerance(dtype, 4));
  }
}

}  // namespace
}  // namespace attn::test
