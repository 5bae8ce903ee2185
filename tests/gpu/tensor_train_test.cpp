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
#include "attn/tensor/tape.hpp"
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

/// Steps of a copying task from `from` on; `model` and `adam` go on.
std::vector<double> learn(const Tiny& model, nn::Adam& adam, int from, int to) {
  std::vector<double> losses;
  for (int step = from; step < to; ++step) {
    attn::Random random(static_cast<std::uint64_t>(100 + step));
    const Tensor ids = random_integers({8, 12}, 0, kTokens, random).to(Device::gpu);
    const Tensor loss = model.loss(ids, ids, random);
    EXPECT_EQ(loss.dtype(), DType::f32);
    adam.zero_grad();
    loss.backward();
    nn::clip_gradients(model, 0.5);
    adam.step(3e-3);
    losses.push_back(loss.item());
  }
  return losses;
}

TEST(GpuTraining, InBf16ItLearnsAsInF32) {
  SKIP_WITHOUT_GPU();
  const auto run = [](DType dtype) {
    const Tiny model;
    model.to(Device::gpu);
    nn::Adam adam(model);
    if (dtype != DType::f32) adam.keep_masters(dtype);
    for (const Tensor& parameter : model.parameters()) EXPECT_EQ(parameter.dtype(), dtype);
    return learn(model, adam, 0, 100);
  };
  const std::vector<double> want = run(DType::f32);
  const std::vector<double> got = run(DType::bf16);
  EXPECT_LT(got.back(), 0.5 * got.front());
  EXPECT_NEAR(got.back(), want.back(), 0.05 * want.front());
}

TEST(GpuTraining, MastersGoOnWhereTheyWereSaved) {
  SKIP_WITHOUT_GPU();
  gpu::set_determinism(gpu::Determinism::repeatable);
  const Tiny model;
  model.to(Device::gpu);
  nn::Adam adam(model);
  adam.keep_masters(DType::bf16);
  learn(model, adam, 0, 5);
  std::vector<Tensor> saved;
  for (const auto& [name, tensor] : adam.state()) saved.push_back(tensor.clone());
  const std::vector<double> want = learn(model, adam, 5, 10);

  const Tiny again;
  again.to(Device::gpu);
  nn::Adam other(again);
  other.keep_masters(DType::bf16);
  const std::vector<nn::NamedTensor> state = other.state();
  ASSERT_EQ(state.size(), saved.size());
  for (std::size_t i = 0; i < saved.size(); ++i) Tensor(state[i].tensor).copy_from(saved[i]);
  const std::vector<nn::NamedTensor> masters = other.numbers();
  const auto parameters = again.parameters();
  {
    const NoGrad off_the_tape;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      Tensor(parameters[i]).copy_from(masters[i].tensor);
  }
  other.set_steps(5);
  EXPECT_EQ(learn(again, other, 5, 10), want);
  gpu::set_determinism(gpu::Determinism::fast);
}

TEST(GpuTraining, AMasterTakesStepsThatItsRoundingHides) {
  SKIP_WITHOUT_GPU();
  class One : public nn::Module {
   public:
    One() : x(add("x", Tensor::full({3}, 1.0))) {}
    Tensor x;
  };
  const One model;
  model.to(Device::gpu);
  nn::Sgd sgd(model);
  sgd.keep_masters(DType::bf16);
  for (int step = 0; step < 100; ++step) {
    Tensor(model.x).set_grad(Tensor::full({3}, 1.0, DType::bf16, Device::gpu));
    sgd.step(1e-4);  // 2^-8 is the least that bf16 can take off 1
  }
  expect_close(sgd.numbers()[0].tensor, Tensor::full({3}, 0.99), 1e-5);
  expect_close(model.x, Tensor::full({3}, 0.99), 4e-3);
}

}  // namespace
}  // namespace attn::test
