// The layer of the models and torch's are one, whatever their parameters are called.

#include "attn/nn/transformer/transformer_layer.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/nn/attention/torch_multihead_attention.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/transformer/torch_layers.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"

namespace attn::nn {
namespace {

constexpr TransformerLayerOptions kOptions{
    .dim = 6, .heads = 3, .feed_forward_dim = 5, .norm = NormOrder::before};

Tensor numbers(const Shape& shape, std::uint64_t seed) {
  Random random(seed);
  return normal(shape, 0.0, 1.0, random, DType::f64);
}

void expect_near(const Tensor& got, const Tensor& want) {
  const auto a = got.detach().to_vector<double>();
  const auto b = want.detach().to_vector<double>();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], test::kDoubleScore) << i;
}

void set(const Module& module, const std::string& name, const Tensor& value) {
  Tensor parameter = find_tensor(module.named_parameters(), name);
  ASSERT_TRUE(parameter.defined()) << name;
  parameter.copy_from(value);
}

/// Every parameter of torch's layer but those of the attention over the memory.
void share(const Module& torch, const Module& model, const std::string& feed_norm) {
  const NoGrad off_the_tape;
  const std::vector<std::pair<std::string, std::string>> names{
      {"norm1.", "self_norm."},
      {"self_attn.in_proj_", "self.in."},
      {"self_attn.out_proj.", "self.out."},
      {feed_norm, "feed_norm."},
      {"linear1.", "feed.in."},
      {"linear2.", "feed.out."}};
  std::uint64_t seed = 11;
  for (const auto& [torch_name, model_name] : names)
    for (const char* part : {"weight", "bias"}) {
      const Tensor like = find_tensor(torch.named_parameters(), torch_name + part);
      ASSERT_TRUE(like.defined()) << torch_name << part;
      const Tensor value = numbers(like.shape(), seed++);
      set(torch, torch_name + part, value);
      set(model, model_name + part, value);
    }
}

TEST(TransformerLayer, OfAModelsEncoderEqualsTorchs) {
  const TransformerEncoderLayer torch(kOptions);
  const TransformerLayer model(kOptions, kModelEncoder);
  for (const Module* module :
       {static_cast<const Module*>(&torch), static_cast<const Module*>(&model)})
    module->to(DType::f64);
  share(torch, model, "norm2.");
  const Tensor x = numbers({2, 4, 6}, 3);
  TorchMasks masks;
  masks.keep = spec::causal();
  expect_near(model.forward(x, {.keep = spec::causal()}).output, torch(x, masks));
}

TEST(TransformerLayer, OfAModelsDecoderEqualsTorchs) {
  const TransformerDecoderLayer torch(kOptions);
  const TransformerLayer model(kOptions, kModelDecoder);
  for (const Module* module :
       {static_cast<const Module*>(&torch), static_cast<const Module*>(&model)})
    module->to(DType::f64);
  share(torch, model, "norm3.");
  {
    const NoGrad off_the_tape;
    for (const char* part : {"weight", "bias"}) {
      const Tensor norm = numbers({6}, 31);
      set(torch, std::string("norm2.") + part, norm);
      set(model, std::string("source_norm.") + part, norm);
      const Shape own = part[0] == 'w' ? Shape{6, 6} : Shape{6};
      const Shape both = part[0] == 'w' ? Shape{12, 6} : Shape{12};
      const Tensor query = numbers(own, 32);
      const Tensor key_value = numbers(both, 33);
      const Tensor out = numbers(own, 34);
      set(torch, std::string("multihead_attn.in_proj_") + part, concat({query, key_value}, 0));
      set(torch, std::string("multihead_attn.out_proj.") + part, out);
      set(model, std::string("source.query.") + part, query);
      set(model, std::string("source.key_value.") + part, key_value);
      set(model, std::string("source.out.") + part, out);
    }
  }
  const Tensor x = numbers({2, 3, 6}, 3);
  const Tensor memory = numbers({2, 5, 6}, 4);
  TransformerDecoderLayer::Masks masks;
  masks.tgt.keep = spec::causal();
  expect_near(model.forward(x, {.keep = spec::causal()}, memory, {}).output,
              torch.forward(x, memory, masks));
}

TEST(TransformerLayer, ProjectsTheResidualWhereWidthsDiffer) {
  TransformerLayerOptions options = kOptions;
  options.attention_dim = 9;
  options.out_dim = 4;
  options.scale = 0.5;
  const TransformerLayer layer(options, kModelEncoder);
  layer.to(DType::f64);
  const Tensor x = numbers({2, 3, 6}, 5);
  EXPECT_TRUE(layer.forward(x, {}).output.shape() == (Shape{2, 3, 4}));
  const NoGrad off_the_tape;
  // Without what the parts add, the residual is all there is.
  for (const char* name :
       {"self.out.weight", "self.out.bias", "feed.out.weight", "feed.out.bias"})
    find_tensor(layer.named_parameters(), name).fill(0.0);
  const Tensor weight = find_tensor(layer.named_parameters(), "residual.weight");
  const Tensor bias = find_tensor(layer.named_parameters(), "residual.bias");
  expect_near(layer.forward(x, {}).output, linear(x, weight, bias));
}

}  // namespace
}  // namespace attn::nn
