// Pointwise ops on the GPU against the CPU: every functor, every way to broadcast.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tensor/ops.hpp"
#include "attn/tensor/tensor.hpp"
#include "gpu/same_on_gpu.hpp"

namespace attn::test {
namespace {

constexpr DType kReal[] = {DType::f32, DType::f64, DType::bf16, DType::f16};

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);

const std::vector<std::pair<const char*, Unary>>& unary_ops() {
  static const std::vector<std::pair<const char*, Unary>> kOps{
      {"affine", [](const Tensor& x) { return affine(x, 1.5, -0.25); }},
      {"neg", [](const Tensor& x) { return neg(x); }},
      {"exp", [](const Tensor& x) { return exp(x); }},
      {"log", [](const Tensor& x) { return log(x + 3.0); }},
      {"sqrt", [](const Tensor& x) { return sqrt(x + 3.0); }},
      {"square", [](const Tensor& x) { return square(x); }},
      {"abs", [](const Tensor& x) { return abs(x); }},
      {"tanh", [](const Tensor& x) { return tanh(x); }},
      {"sigmoid", [](const Tensor& x) { return sigmoid(x); }},
      {"relu", [](const Tensor& x) { return relu(x); }},
      {"gelu", [](const Tensor& x) { return gelu(x); }},
      {"elu", [](const Tensor& x) { return elu(x, 0.7); }},
      {"clamp", [](const Tensor& x) { return clamp(x, -0.5, 0.75); }},
  };
  return kOps;
}

const std::vector<std::pair<const char*, Binary>>& binary_ops() {
  static const std::vector<std::pair<const char*, Binary>> kOps{
      {"add", &add}, {"sub", &sub},         {"mul", &mul},
      {"div", &div}, {"maximum", &maximum}, {"minimum", &minimum}};
  return kOps;
}

TEST(GpuPointwise, UnaryOpsAgreeWithTheCpu) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kReal) {
    for (const Shape& shape : {Shape{}, Shape{0, 3}, Shape{1}, Shape{3, 5, 7}, Shape{4099}}) {
      const Tensor x = random_tensor("unary", shape, -2.0, 2.0).to(dtype);
      for (const auto& [name, op] : unary_ops())
        expect_same_on_gpu(
            named(std::string(name) + " " + shape.text(), dtype), {x},
            [op = op](const Tensors& in) { return Tensors{op(in[0])}; }, gpu_tolerance(dtype));
    }
  }
}

TEST(GpuPointwise, UnaryOpsTakeViews) {
  SKIP_WITHOUT_GPU();
  const Tensor x = random_tensor("view", {5, 6, 7}, -2.0, 2.0).to(DType::f32);
  for (const auto& [name, op] : unary_ops())
    expect_same_on_gpu(
        name, {x},
        [op = op](const Tensors& in) {
          return Tensors{op(in[0].slice(1, 1, 5).transpose(0, 2))};
        },
        gpu_tolerance(DType::f32));
}

TEST(GpuPointwise, BinaryOpsBroadcastAsOnTheCpu) {
  SKIP_WITHOUT_GPU();
  const std::vector<std::pair<Shape, Shape>> shapes{
      {{3, 5}, {3, 5}}, {{3, 5}, {5}},    {{4, 1, 6}, {3, 1}}, {{2, 3, 4}, {}},
      {{1}, {1}},       {{0, 3}, {1, 3}}, {{7, 1}, {1, 9}},    {{2, 1, 3, 1}, {4, 1, 5}},
      {{2049}, {1}},    {{3, 17}, {3, 1}}};
  for (const DType dtype : kReal) {
    for (const auto& [first, second] : shapes) {
      const Tensor a = random_tensor("a", first, -2.0, 2.0).to(dtype);
      const Tensor b = random_tensor("b", second, 0.5, 2.0).to(dtype);
      const int summed = static_cast<int>(broadcast(first, second, "test").numel());
      for (const auto& [name, op] : binary_ops())
        expect_same_on_gpu(
            named(std::string(name) + " " + first.text() + second.text(), dtype), {a, b},
            [op = op](const Tensors& in) { return Tensors{op(in[0], in[1])}; },
            gpu_tolerance(dtype, summed));
    }
  }
}

TEST(GpuPointwise, BinaryOpsTakeViewsAndEquals) {
  SKIP_WITHOUT_GPU();
  const Tensor a = random_tensor("a", {4, 5, 6}).to(DType::f32);
  const Tensor b = random_tensor("b", {6, 5, 4}, 0.5, 1.5).to(DType::f32);
  for (const auto& [name, op] : binary_ops()) {
    expect_same_on_gpu(
        name, {a, b},
        [op = op](const Tensors& in) {
          return Tensors{op(in[0].slice(2, 1, 5), in[1].permute({2, 1, 0}).slice(2, 2, 6))};
        },
        gpu_tolerance(DType::f32));
    expect_same_on_gpu(
        std::string(name) + " of equals", {b},
        [op = op](const Tensors& in) { return Tensors{op(in[0], in[0])}; },
        gpu_tolerance(DType::f32));
  }
}

TEST(GpuPointwise, WhereChoosesAndLosesTheRest) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : kReal) {
    const Tensor a = random_tensor("a", {3, 4, 5}).to(dtype);
    const Tensor b = random_tensor("b", {4, 1}).to(dtype);
    const Tensor keep = random_mask("keep", {3, 1, 5});
    expect_same_on_gpu(
        named("where", dtype), {a, b, keep},
        [](const Tensors& in) {
          return Tensors{where(in[2], in[0], in[1]), keep_where(in[0], in[2], -2.0)};
        },
        gpu_tolerance(dtype, 20));
  }
}

TEST(GpuPointwise, BooleansAgreeWithTheCpu) {
  SKIP_WITHOUT_GPU();
  const Tensor a = random_mask("a", {4, 1, 5});
  const Tensor b = random_mask("b", {3, 1});
  const Tensor lengths = random_ids("lengths", {6}, 0, 9);
  expect_same_on_gpu(
      "booleans", {a, b, lengths},
      [](const Tensors& in) {
        return Tensors{logical_and(in[0], in[1]), logical_not(in[0].transpose(0, 2)),
                       length_mask(in[2], 9)};
      },
      0.0);
}

}  // namespace
}  // namespace attn::test
