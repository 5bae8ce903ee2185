#include "nn/mechanisms/heads/register_torch.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/attention/torch_multihead_attention.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/registry.hpp"
#include "attn/nn/transformer/torch_layers.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/adapt.hpp"

namespace attn::nn {
namespace {

constexpr const char* kPaper = "Vaswani et al., 2017, arXiv:1706.03762";
constexpr const char* kLayerOptions =
    "d_model: features\nnhead: attentions side by side\ndim_feedforward: hidden features\n"
    "activation: relu or gelu\nnorm_first: normalise before each part instead of behind\n"
    "layer_norm_eps: inside the root of the norm\nbatch_first: always true";

void require_batch_first(const Options& options) {
  if (!options.flag("batch_first", true))
    fail("attn::nn: batch_first is false; batches in front are accepted");
}

/// Boolean, True at the given flat places.
Tensor flags(const Shape& shape, const std::vector<std::int64_t>& places) {
  const Tensor mask = Tensor::zeros(shape, DType::boolean);
  for (const std::int64_t place : places) mask.mutable_data<bool>()[place] = true;
  return mask;
}

TorchMultiheadAttentionOptions multihead_options(const Given& given) {
  const bool learnt = given.has_parameter("bias_k");
  const bool zero = given.options.flag("add_zero_attn", false);
  TorchMultiheadAttentionOptions options{.embed_dim = adapt::rows(given, "out_proj.weight"),
                                         .heads = given.options.whole("num_heads", 1)};
  if (!given.has_parameter("in_proj_weight")) {
    options.kdim = adapt::columns(given, "k_proj_weight");
    options.vdim = adapt::columns(given, "v_proj_weight");
  }
  options.bias = given.has_parameter("in_proj_bias") ? Bias::learnt : Bias::none;
  options.appended = learnt && zero ? AppendedKeys::learnt_and_zero
                     : learnt       ? AppendedKeys::learnt
                     : zero         ? AppendedKeys::zero
                                    : AppendedKeys::none;
  return options;
}

Made run_multihead(const Given& given) {
  require_batch_first(given.options);
  const auto module = adapt::loaded(TorchMultiheadAttention(multihead_options(given)), given);
  const Attended looked =
      module.forward(given.need("query"), given.need("key"), given.need("value"),
                     {.key_padding_mask = given.in("key_padding_mask"),
                      .attn_mask = given.in("attn_mask"),
                      .keep = {}},
                     Want::output | Want::weights);
  const bool average = given.options.flag("average_weights", true);
  const Tensor weights = average ? mean(looked.weights, 1) : looked.weights;
  return {{{"output", looked.output}, {"weights", weights}}, module.named_parameters()};
}

void add_attention(Given& given, Random& random, const std::string& prefix, std::int64_t dim) {
  auto& all = given.parameters;
  all[prefix + "in_proj_weight"] = adapt::real(random, {3 * dim, dim}) * 0.5;
  all[prefix + "in_proj_bias"] = adapt::real(random, {3 * dim}) * 0.5;
  all[prefix + "out_proj.weight"] = adapt::real(random, {dim, dim}) * 0.5;
  all[prefix + "out_proj.bias"] = adapt::real(random, {dim}) * 0.5;
}

Given multihead_example(Random& random) {
  Given given;
  given.inputs["query"] = adapt::real(random, {2, 3, 6});
  given.inputs["key"] = adapt::real(random, {2, 4, 6});
  given.inputs["value"] = adapt::real(random, {2, 4, 6});
  given.inputs["attn_mask"] = adapt::real(random, {4, 3, 4});
  given.inputs["key_padding_mask"] = flags({2, 4}, {3, 4, 5, 6, 7});
  add_attention(given, random, "", 6);
  given.parameters["bias_k"] = adapt::real(random, {1, 1, 6});
  given.parameters["bias_v"] = adapt::real(random, {1, 1, 6});
  given.options = {{"num_heads", 2.0}, {"average_weights", false}, {"add_zero_attn", true}};
  return given;
}

TransformerLayerOptions layer_options(const Given& given) {
  require_batch_first(given.options);
  const Options& options = given.options;
  const bool before = options.flag("norm_first", false);
  return {.dim = options.whole("d_model", adapt::columns(given, "linear1.weight")),
          .heads = options.whole("nhead", 1),
          .feed_forward_dim =
              options.whole("dim_feedforward", adapt::rows(given, "linear1.weight")),
          .activation = adapt::activation(options.word("activation", "relu")),
          .norm = before ? NormOrder::before : NormOrder::after,
          .layer_norm_eps = options.number("layer_norm_eps", 1e-5)};
}

void add_layer(Given& given, Random& random, std::int64_t dim, std::int64_t hidden, int norms) {
  auto& all = given.parameters;
  add_attention(given, random, "self_attn.", dim);
  all["linear1.weight"] = adapt::real(random, {hidden, dim}) * 0.5;
  all["linear1.bias"] = adapt::real(random, {hidden}) * 0.5;
  all["linear2.weight"] = adapt::real(random, {dim, hidden}) * 0.5;
  all["linear2.bias"] = adapt::real(random, {dim}) * 0.5;
  for (int i = 1; i <= norms; ++i) {
    all["norm" + std::to_string(i) + ".weight"] = adapt::real(random, {dim});
    all["norm" + std::to_string(i) + ".bias"] = adapt::real(random, {dim});
  }
  given.options = {{"nhead", 2.0}, {"activation", std::string("gelu")}};
}

}  // namespace

Mechanism torch_multihead_mechanism() {
  return {
      .name = "torch_multihead_attention",
      .family = "heads",
      .title = "Multi-head attention as torch has it, to load its checkpoints",
      .formula =
          "head_a = softmax(W_q q (W_k k)^T / sqrt(d) + mask) W_v v, "
          "out = out_proj [head_0; head_1; ...]",
      .paper = kPaper,
      .made_of =
          "score scaled dot with a bias, mask dense (True ignores), normalise softmax, "
          "pool weighted sum, between linear layers",
      .options =
          "num_heads: attentions side by side\naverage_weights: whether the weights "
          "are averaged over the heads\nadd_zero_attn: append a key and a value of "
          "zeros\nbatch_first: always true",
      .snippet = R"(nn::TorchMultiheadAttention attention({.embed_dim = 12, .heads = 3});
Tensor x = uniform({2, 5, 12}, -1, 1, nn::random());
nn::TorchMasks masks;
masks.keep = spec::causal();
Attended looked = attention.forward(x, x, x, masks, Want::output | Want::weights);)",
      .header = "attn/nn/attention/torch_multihead_attention.hpp",
      .run = run_multihead,
      .example = multihead_example,
  };
}

Mechanism encoder_layer_mechanism() {
  return {
      .name = "transformer_encoder_layer",
      .family = "heads",
      .title = "A layer of the Transformer's encoder",
      .formula =
          "x = LN1(x + SA(x)), x = LN2(x + FF(x)); or x = x + SA(LN1 x), "
          "x = x + FF(LN2 x)",
      .paper =
          "Vaswani et al., 2017, arXiv:1706.03762; norm first: Xiong et al., 2020, "
          "arXiv:2002.04745",
      .made_of =
          "multi-head self attention and a feed-forward network, each with a residual "
          "sum and a norm",
      .options = kLayerOptions,
      .snippet = R"(nn::TransformerEncoderLayer layer(
    {.dim = 16, .heads = 4, .feed_forward_dim = 32, .dropout = 0.1});
Tensor x = uniform({2, 5, 16}, -1, 1, nn::random());
nn::TorchMasks masks;
masks.keep = spec::causal();
Tensor y = layer(x, masks);)",
      .header = "attn/nn/transformer/torch_layers.hpp",
      .run =
          [](const Given& given) {
            const auto layer =
                adapt::loaded(TransformerEncoderLayer(layer_options(given)), given);
            const Tensor output =
                layer(given.need("src"), {.key_padding_mask = given.in("src_key_padding_mask"),
                                          .attn_mask = given.in("src_mask"),
                                          .keep = {}});
            return Made{{{"output", output}}, layer.named_parameters()};
          },
      .example =
          [](Random& random) {
            Given given;
            given.inputs["src"] = adapt::real(random, {2, 3, 4});
            given.inputs["src_key_padding_mask"] = flags({2, 3}, {2, 3, 4, 5});
            add_layer(given, random, 4, 5, 2);
            return given;
          },
  };
}

Mechanism decoder_layer_mechanism() {
  return {
      .name = "transformer_decoder_layer",
      .family = "heads",
      .title = "A layer of the Transformer's decoder",
      .formula =
          "x = LN1(x + SA(x)), x = LN2(x + MA(x, memory)), x = LN3(x + FF(x)); or "
          "with each norm before its part",
      .paper = kPaper,
      .made_of =
          "multi-head self attention, multi-head attention over the memory and a "
          "feed-forward network, each with a residual sum and a norm",
      .options = kLayerOptions,
      .snippet =
          R"(nn::TransformerDecoderLayer layer({.dim = 16, .heads = 4, .feed_forward_dim = 32});
Tensor x = uniform({2, 3, 16}, -1, 1, nn::random());
Tensor memory = uniform({2, 5, 16}, -1, 1, nn::random());
nn::TransformerDecoderLayer::Masks masks;
masks.tgt.keep = spec::causal();
Tensor y = layer.forward(x, memory, masks);)",
      .header = "attn/nn/transformer/torch_layers.hpp",
      .run =
          [](const Given& given) {
            const auto layer =
                adapt::loaded(TransformerDecoderLayer(layer_options(given)), given);
            const TransformerDecoderLayer::Masks masks{
                .tgt = {.key_padding_mask = given.in("tgt_key_padding_mask"),
                        .attn_mask = given.in("tgt_mask"),
                        .keep = {}},
                .memory = {.key_padding_mask = given.in("memory_key_padding_mask"),
                           .attn_mask = given.in("memory_mask"),
                           .keep = {}}};
            const Tensor output = layer.forward(given.need("tgt"), given.need("memory"), masks);
            return Made{{{"output", output}}, layer.named_parameters()};
          },
      .example =
          [](Random& random) {
            Given given;
            given.inputs["tgt"] = adapt::real(random, {2, 3, 4});
            given.inputs["memory"] = adapt::real(random, {2, 5, 4});
            given.inputs["tgt_mask"] = flags({3, 3}, {1, 2, 5});
            given.inputs["memory_key_padding_mask"] = flags({2, 5}, {4, 5, 6, 7, 8, 9});
            add_attention(given, random, "multihead_attn.", 4);
            add_layer(given, random, 4, 5, 3);
            return given;
          },
  };
}

}  // namespace attn::nn
