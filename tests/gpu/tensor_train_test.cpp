// Training on the GPU gives the losses of the CPU: optimisers, clipping, and a tiny model.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/optimiser.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/ops.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "gpu/same_on_gpu.hpp"

namespace attn::test {
namespace {

constexpr std::int64_t kTokens = 40;
constexpr std::int64_t kWidth = 32;
constexpr std::int64_t kHeads = 2;

/// Embedding, linear, layer normalisation, causal attention, linear, cross-entropy.
class Tiny : public nn::Module {
 public:
  Tiny() {
    attn::Random random(11);
    const auto make = [&](const char* name, const Shape& shape) {
      return add(name, uniform(shape, -0.2, 0.2, random));
    };
    table_ = make("table", {kTokens, kWidth});
    inner_ = make("inner", {3 * kWidth, kWidth});
    inner_bias_ = make("inner_bias", {3 * kWidth});
    scale_ = add("scale", Tensor::full({kWidth}, 1.0));
    shift_ = add("shift", Tensor::zeros({kWidth}));
    outer_ = make("outer", {kTokens, kWidth});
    outer_bias_ = make("outer_bias", {kTokens});
  }

  Tensor loss(const Tensor& ids, const Tensor& targets, attn::Random& random) const {
    const std::int64_t batch = ids.size(0);
    const std::int64_t length = ids.size(1);
    Tensor x = dropout(embedding(table_, ids), 0.1, random);
    x = layer_norm(x, scale_, shift_);
    const Tensor qkv = linear(x, inner_, inner_bias_);
    const auto heads = [&](int part) {
      return qkv.slice(2, part * kWidth, (part + 1) * kWidth)
          .reshape({batch, length, kHeads, kWidth / kHeads})
          .transpose(1, 2);
    };
    const Tensor seen =
        attend(heads(0), heads(1), heads(2), spec::scaled_dot(), spec::causal()).output;
    const Tensor joined = gelu(seen.transpose(1, 2).reshape({batch, length, kWidth})) + x;
    return cross_entropy(linear(joined, outer_, outer_bias_), targets, {0.1, 0});
  }

 private:
  Tensor table_, inner_, inner_bias_, scale_, shift_, outer_, outer_bias_;
};

enum class Rule { adam_w, adam, sgd };

/// The losses of 100 steps.
std::vector<double> train(Rule rule, Device device) {
  const Tiny model;
  model.to(device);
  std::unique_ptr<nn::Optimiser> optimiser;
  double rate = 3e-3;
  if (rule == Rule::adam_w) optimiser = std::make_unique<nn::Adam>(nn::adam_w(model, 0.01));
  if (rule == Rule::adam)
    optimiser = std::make_unique<nn::Adam>(model, nn::AdamOptions{.weight_decay = 1e-3});
  if (rule == Rule::sgd) {
    optimiser = std::make_unique<nn::Sgd>(model, nn::SgdOptions{0.9, 1e-4});
    rate = 0.1;
  }
  attn::Random random(5);
  std::vector<double> losses;
  for (int step = 0; step < 100; ++step) {
    const Tensor ids = random_integers({4, 13}, 0, kTokens, random).to(device);
    // The next number of each is the target, so that there is something to learn.
    const Tensor targets = ids.slice(1, 1, 13).contiguous();
    const Tensor loss = model.loss(ids.slice(1, 0, 12).contiguous(), targets, random);
    optimiser->zero_grad();
    loss.backward();
    nn::clip_gradients(model, 0.5);
    optimiser->step(rate);
    losses.push_back(loss.item());
  }
  return losses;
}

void expect_same_losses(Rule rule) {
  const std::vector<double> want = train(rule, Device::cpu);
  gpu::set_determinism(gpu::Determinism::repeatable);
  const std::vector<double> got = train(rule, Device::gpu);
  const std::vector<double> again = train(rule, Device::gpu);
  gpu::set_determinism(gpu::Determinism::fast);
  EXPECT_EQ(got, again) << "repeatable training";
  expect_losses_near(got, want, "losses");
  EXPECT_LT(want.back(), want.front());
}

TEST(GpuTraining, AdamWGivesTheLossesOfTheCpu) {
  SKIP_WITHOUT_GPU();
  expect_same_losses(Rule::adam_w);
}
TEST(GpuTraining, AdamGivesTheLossesOfTheCpu) {
  SKIP_WITHOUT_GPU();
  expect_same_losses(Rule::adam);
}
TEST(GpuTraining, SgdGivesTheLossesOfTheCpu) {
  SKIP_WITHOUT_GPU();
  expect_same_losses(Rule::sgd);
}

TEST(GpuTraining, ClippingGivesTheNormOfTheCpu) {
  SKIP_WITHOUT_GPU();
  const Tiny here;
  const Tiny there;
  there.to(Device::gpu);
  const auto parameters = here.parameters();
  const auto moved = there.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor grad =
        random_tensor("grad " + std::to_string(i), parameters[i].shape()).to(DType::f32);
    Tensor(parameters[i]).set_grad(grad);
    Tensor(moved[i]).set_grad(grad.to(Device::gpu));
  }
  const double want = nn::clip_gradients(here, 1.0);
  EXPECT_NEAR(nn::clip_gradients(there, 1.0), want, 1e-4 * want);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    expect_close(moved[i].grad(), parameters[i].grad(), 1e-6);
}

}  // namespace
}  // namespace attn::test
