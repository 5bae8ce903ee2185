// Attention as layers, and those that equal torch's modules, as mechanisms.

#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/attention/additive_score.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/attention/torch_multihead_attention.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/heads/dot_product_attention.hpp"
#include "attn/nn/transformer/torch_layers.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "nn/mechanisms/adapt.hpp"

namespace attn::nn::adapt {
namespace {

constexpr const char* kVaswani = "Vaswani et al., 2017, arXiv:1706.03762";
constexpr const char* kLayerOptions =
    "d_model: features\nnhead: attentions side by side\ndim_feedforward: hidden features\n"
    "activation: relu or gelu\nnorm_first: normalise before each part instead of behind\n"
    "layer_norm_eps: inside the root of the norm\nbatch_first: always true";

Made run_additive(const Given& given) {
  return run_module("output",
                    AdditiveAttention({.query_dim = columns(given, "W_q.weight"),
                                       .key_dim = columns(given, "W_k.weight"),
                                       .hidden_dim = rows(given, "W_q.weight")}),
                    given);
}

Made run_dot_product(const Given& given) {
  return run_module("output", DotProductAttention(), given);
}

Made run_multi_head(const Given& given) {
  const bool bias = given.options.flag("bias", given.has_parameter("W_q.bias"));
  return run_module("output",
                    MultiHeadAttention({.query_dim = columns(given, "W_q.weight"),
                                        .key_dim = columns(given, "W_k.weight"),
                                        .value_dim = columns(given, "W_v.weight"),
                                        .hidden_dim = rows(given, "W_q.weight"),
                                        .heads = given.options.whole("num_heads", 1),
                                        .bias = bias ? Bias::learnt : Bias::none}),
                    given);
}

void require_batch_first(const Options& options) {
  if (!options.flag("batch_first", true))
    fail("attn::nn: batch_first is false; batches in front are accepted");
}

TorchMultiheadAttentionOptions multihead_options(const Given& given) {
  const bool learnt = given.has_parameter("bias_k");
  const bool zero = given.options.flag("add_zero_attn", false);
  TorchMultiheadAttentionOptions options{.embed_dim = rows(given, "out_proj.weight"),
                                         .heads = given.options.whole("num_heads", 1)};
  if (!given.has_parameter("in_proj_weight")) {
    options.kdim = columns(given, "k_proj_weight");
    options.vdim = columns(given, "v_proj_weight");
  }
  options.bias = given.has_parameter("in_proj_bias") ? Bias::learnt : Bias::none;
  options.appended = learnt && zero ? AppendedKeys::learnt_and_zero
                     : learnt       ? AppendedKeys::learnt
                     : zero         ? AppendedKeys::zero
                                    : AppendedKeys::none;
  return options;
}

/// The masks under the names that torch gives them.
TorchMasks masks_of(const Given& given, const std::string& padding, const std::string& mask) {
  return {.key_padding_mask = given.in(padding), .attn_mask = given.in(mask), .keep = {}};
}

Made run_multihead(const Given& given) {
  require_batch_first(given.options);
  const auto module = loaded(TorchMultiheadAttention(multihead_options(given)), given);
  const Attended attended =
      module.forward(given.need("query"), given.need("key"), given.need("value"),
                     masks_of(given, "key_padding_mask", "attn_mask"), kBoth);
  const bool average = given.options.flag("average_weights", true);
  const Tensor weights = average ? mean(attended.weights, 1) : attended.weights;
  return {{{"output", attended.output}, {"weights", weights}}, module.named_parameters()};
}

TransformerLayerOptions layer_options(const Given& given) {
  require_batch_first(given.options);
  const Options& options = given.options;
  const bool before = options.flag("norm_first", false);
  return {.dim = options.whole("d_model", columns(given, "linear1.weight")),
          .heads = options.whole("nhead", 1),
          .feed_forward_dim = options.whole("dim_feedforward", rows(given, "linear1.weight")),
          .activation = activation(given, "relu"),
          .norm = before ? NormOrder::before : NormOrder::after,
          .layer_norm_eps = options.number("layer_norm_eps", 1e-5)};
}

Made run_encoder_layer(const Given& given) {
  const auto layer = loaded(TransformerEncoderLayer(layer_options(given)), given);
  return {{{"output",
            layer(given.need("src"), masks_of(given, "src_key_padding_mask", "src_mask"))}},
          layer.named_parameters()};
}

Made run_decoder_layer(const Given& given) {
  const auto layer = loaded(TransformerDecoderLayer(layer_options(given)), given);
  const TransformerDecoderLayer::Masks masks{
      .tgt = masks_of(given, "tgt_key_padding_mask", "tgt_mask"),
      .memory = masks_of(given, "memory_key_padding_mask", "memory_mask")};
  return {{{"output", layer.forward(given.need("tgt"), given.need("memory"), masks)}},
          layer.named_parameters()};
}

template <class Layer>
Example layer_example() {
  return Example()
      .parameters_of<Layer>(
          TransformerLayerOptions{.dim = 4, .heads = 2, .feed_forward_dim = 5})
      .options({{"nhead", 2.0}, {"activation", "gelu"}});
}

}  // namespace

std::vector<Mechanism> heads_mechanisms() {
  return {
      {.name = "additive_attention",
       .title = "Additive attention as a layer",
       .formula = "out = softmax(w_v . tanh(W_q q + W_k k)) v",
       .paper = "Bahdanau, Cho, Bengio, 2015, arXiv:1409.0473",
       .made_of = "score additive, mask lengths, normalise softmax, pool weighted sum",
       .snippet = R"(nn::AdditiveAttention attention(
    {.query_dim = 20, .key_dim = 2, .hidden_dim = 8, .dropout = 0.1});
Tensor q = uniform({2, 1, 20}, -1, 1, nn::random());
Tensor k = uniform({2, 10, 2}, -1, 1, nn::random());
Attended looked = attention.forward(q, k, k, {}, Want::output | Want::weights);)",
       .header = "attn/nn/attention/additive_score.hpp",
       .run = run_additive,
       .example = pooling_example(3, 5).parameters(
           {{"W_q.weight", {6, 3}}, {"W_k.weight", {6, 5}}, {"w_v.weight", {1, 6}}})},
      {.name = "dot_product_attention",
       .title = "Scaled dot product attention as a layer",
       .formula = "out = softmax(q k^T / sqrt(d)) v",
       .paper = kVaswani,
       .made_of = "score scaled dot, mask lengths, normalise softmax, pool weighted sum",
       .snippet = R"(nn::DotProductAttention attention({.dropout = 0.5});
Tensor q = uniform({2, 1, 2}, -1, 1, nn::random());
Tensor k = uniform({2, 10, 2}, -1, 1, nn::random());
Attended looked = attention.forward(q, k, k, {}, Want::output | Want::weights);)",
       .run = run_dot_product,
       .example = pooling_example(4, 4)},
      {.name = "multi_head_attention",
       .title = "Multi-head attention: several attentions side by side",
       .formula = "head_a = softmax(W_q q (W_k k)^T / sqrt(n / H)) W_v v on share a of the "
                  "features, out = W_o [head_0; head_1; ...]",
       .paper = kVaswani,
       .made_of = "score scaled dot in each head, mask lengths, normalise softmax, pool "
                  "weighted sum, between linear layers",
       .options = "num_heads: attentions side by side\nbias: whether the projections add a "
                  "learnt vector",
       .snippet = R"(nn::MultiHeadAttention attention(
    {.query_dim = 8, .key_dim = 6, .value_dim = 6, .hidden_dim = 12, .heads = 3});
Tensor q = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 5, 6}, -1, 1, nn::random());
Attended looked = attention.forward(q, k, k, {}, Want::output | Want::weights);)",
       .header = "attn/nn/attention/multi_head_attention.hpp",
       .run = run_multi_head,
       .example = pooling_example(4, 5)
                      .parameters_of<MultiHeadAttention>(
                          MultiHeadAttentionOptions{.query_dim = 4,
                                                    .key_dim = 5,
                                                    .value_dim = 3,
                                                    .hidden_dim = 6,
                                                    .heads = 3,
                                                    .bias = Bias::learnt})
                      .options({{"num_heads", 3.0}, {"bias", true}})},
      {.name = "torch_multihead_attention",
       .title = "Multi-head attention as torch has it, to load its checkpoints",
       .formula = "head_a = softmax(W_q q (W_k k)^T / sqrt(d) + mask) W_v v, out = out_proj "
                  "[head_0; head_1; ...]",
       .paper = kVaswani,
       .made_of = "score scaled dot with a bias, mask dense (True ignores), normalise softmax, "
                  "pool weighted sum, between linear layers",
       .options = "num_heads: attentions side by side\naverage_weights: whether the weights "
                  "are averaged over the heads\nadd_zero_attn: append a key and a value of "
                  "zeros\nbatch_first: always true",
       .snippet = R"(nn::TorchMultiheadAttention attention({.embed_dim = 12, .heads = 3});
Tensor x = uniform({2, 5, 12}, -1, 1, nn::random());
nn::TorchMasks masks;
masks.keep = spec::causal();
Attended looked = attention.forward(x, x, x, masks, Want::output | Want::weights);)",
       .header = "attn/nn/attention/torch_multihead_attention.hpp",
       .run = run_multihead,
       .example =
           Example()
               .inputs({{"query", {2, 3, 6}},
                        {"key", {2, 4, 6}},
                        {"value", {2, 4, 6}},
                        {"attn_mask", {4, 3, 4}},
                        {"key_padding_mask", flags({2, 4}, {3, 4, 5, 6, 7})}})
               .parameters_of<TorchMultiheadAttention>(TorchMultiheadAttentionOptions{
                   .embed_dim = 6, .heads = 2, .appended = AppendedKeys::learnt_and_zero})
               .options(
                   {{"num_heads", 2.0}, {"average_weights", false}, {"add_zero_attn", true}})},
      {.name = "transformer_encoder_layer",
       .title = "A layer of the Transformer's encoder",
       .formula =
           "x = LN1(x + SA(x)), x = LN2(x + FF(x)); or x = x + SA(LN1 x), x = x + FF(LN2 x)",
       .paper = "Vaswani et al., 2017, arXiv:1706.03762; norm first: Xiong et al., 2020, "
                "arXiv:2002.04745",
       .made_of = "multi-head self attention and a feed-forward network, each with a residual "
                  "sum and a norm",
       .options = kLayerOptions,
       .snippet = R"(nn::TransformerEncoderLayer layer(
    {.dim = 16, .heads = 4, .feed_forward_dim = 32, .dropout = 0.1});
Tensor x = uniform({2, 5, 16}, -1, 1, nn::random());
nn::TorchMasks masks;
masks.keep = spec::causal();
Tensor y = layer(x, masks);)",
       .header = "attn/nn/transformer/torch_layers.hpp",
       .run = run_encoder_layer,
       .example = layer_example<TransformerEncoderLayer>().inputs(
           {{"src", {2, 3, 4}}, {"src_key_padding_mask", flags({2, 3}, {2, 3, 4, 5})}})},
      {.name = "transformer_decoder_layer",
       .title = "A layer of the Transformer's decoder",
       .formula = "x = LN1(x + SA(x)), x = LN2(x + MA(x, memory)), x = LN3(x + FF(x)); or with "
                  "each norm before its part",
       .paper = kVaswani,
       .made_of = "multi-head self attention, multi-head attention over the memory and a "
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
       .run = run_decoder_layer,
       .example = layer_example<TransformerDecoderLayer>().inputs(
           {{"tgt", {2, 3, 4}},
            {"memory", {2, 5, 4}},
            {"tgt_mask", flags({3, 3}, {1, 2, 5})},
            {"memory_key_padding_mask", flags({2, 5}, {4, 5, 6, 7, 8, 9})}})}};
}

}  // namespace attn::nn::adapt
