// The number of threads changes no bit of an op's results and gradients.

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/tensor/ops/conv.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn {
namespace {

using test::random_ids;
using test::random_tensor;
using test::Tensors;

/// All numbers of the results and gradients in float, one behind the other.
std::vector<float> numbers_of(const test::TensorFunction& f, const Tensors& inputs) {
  const test::gradcheck::Run run = test::gradcheck::run(f, inputs, DType::f32);
  std::vector<float> all;
  for (const Tensors& list : {run.results, run.grads})
    for (const Tensor& x : list)
      if (x.defined())
        for (const float number : x.to_vector<float>()) all.push_back(number);
  return all;
}

/// Inside a task of the pool everything runs on one thread.
std::vector<float> on_one_thread(const std::function<std::vector<float>()>& run) {
  std::vector<float> result;
  ThreadPool::shared().parallel_for(2, 2, [&](int task) {
    if (task == 0) result = run();
  });
  return result;
}

TEST(OpThreads, DoNotChangeABit) {
  const Tensor x = random_tensor("x", {300, 500});
  const Tensor row = random_tensor("row", {500});
  const Tensor image = random_tensor("image", {6, 16, 24, 24});
  const Tensor kernel = random_tensor("kernel", {16, 16, 3, 3});
  const Tensor bias = random_tensor("bias", {16});
  const Tensor ids = random_ids("ids", {2000}, 0, 299);
  const Tensor targets = random_ids("targets", {300}, 0, 499);
  const std::vector<std::pair<test::TensorFunction, Tensors>> cases{
      {[](const Tensors& in) { return Tensors{softmax(in[0])}; }, {x}},
      {[](const Tensors& in) { return Tensors{layer_norm(in[0], in[1], in[1])}; }, {x, row}},
      {[](const Tensors& in) { return Tensors{cross_entropy(in[0], in[1])}; }, {x, targets}},
      {[](const Tensors& in) { return Tensors{embedding(in[0], in[1])}; }, {x, ids}},
      {[](const Tensors& in) { return Tensors{conv2d(in[0], in[1], in[2], {.pad = {1, 1}})}; },
       {image, kernel, bias}},
      {[](const Tensors& in) {
         return Tensors{batch_norm(in[0], in[1], in[1], {}, Phase::train)};
       },
       {image, bias}},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto run = [&] { return numbers_of(cases[i].first, cases[i].second); };
    EXPECT_TRUE(run() == on_one_thread(run)) << "case " << i;
  }
}

}  // namespace
}  // namespace attn
