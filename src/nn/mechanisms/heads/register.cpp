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

MechanismResult run_additive(const MechanismCall& call) {
  return run_module("output",
                    AdditiveAttention({.query_dim = columns(call, "W_q.weight"),
                                       .key_dim = columns(call, "W_k.weight"),
                                       .hidden_dim = rows(call, "W_q.weight")}),
                    call);
}

MechanismResult run_dot_product(const MechanismCall& call) {
  return run_module("output", DotProductAttention(), call);
}

MechanismResult run_multi_head(const MechanismCall& call) {
  const bool bias = call.options.flag("bias", call.has_parameter("W_q.bias"));
  return run_module("output",
                    MultiHeadAttention({.query_dim = columns(call, "W_q.weight"),
                                        .key_dim = columns(call, "W_k.weight"),
                                        .value_dim = columns(call, "W_v.weight"),
                                        .hidden_dim = rows(call, "W_q.weight"),
                                        .heads = call.options.whole("num_heads", 1),
                                        .bias = bias ? Bias::learnt : Bias::none}),
                    call);
}

void require_batch_first(const Options& options) {
  if (!options.flag("batch_first", true))
    fail("attn::nn: batch_first is false; batches in front are accepted");
}

TorchMultiheadAttentionOptions multihead_options(const MechanismCall& call) {
  const bool learnt = call.has_parameter("bias_k");
  const bool zero = call.options.flag("add_zero_attn", false);
  TorchMultiheadAttentionOptions options{.embed_dim = rows(call, "out_proj.weight"),
                                         .heads = call.options.whole("num_heads", 1)};
  if (!call.has_parameter("in_proj_weight")) {
    options.kdim = columns(call, "k_proj_weight");
    options.vdim = columns(call, "v_proj_weight");
  }
  options.bias = call.has_parameter("in_proj_bias") ? Bias::learnt : Bias::none;
  options.appended = learnt && zero ? AppendedKeys::learnt_and_zero
                     : learnt       ? AppendedKeys::learnt
                     : zero         ? AppendedKeys::zero
                                    : AppendedKeys::none;
  return options;
}

/// The masks under the names that torch gives them.
TorchMasks masks_of(const MechanismCall& call, const std::string& padding,
                    const std::string& mask) {
  return {.key_padding_mask = call.in(padding), .attn_mask = call.in(mask), .keep = {}};
}

MechanismResult run_multihead(const MechanismCall& call) {
  require_batch_first(call.options);
  const auto module = loaded(TorchMultiheadAttention(multihead_options(call)), call);
  const Attended attended =
      module.forward(call.need("query"), call.need("key"), call.need("value"),
                     masks_of(call, "key_padding_mask", "attn_mask"), kBoth);
  const bool average = call.options.flag("average_weights", true);
  const Tensor weights = average ? mean(attended.weights, 1) : attended.weights;
  return {{{"output", attended.output}, {"weights", weights}}, module.named_parameters()};
}

TransformerLayerOptions layer_options(const MechanismCall& call) {
  require_batch_first(call.options);
  const Options& options = call.options;
  const bool before = options.flag("norm_first", false);
  return {.dim = options.whole("d_model", columns(call, "linear1.weight")),
          .heads = options.whole("nhead", 1),
          .feed_forward_dim = options.whole("dim_feedforward", rows(call, "linear1.weight")),
          .activation = activation(call, "relu"),
          .norm = before ? NormOrder::before : NormOrder::after,
          .layer_norm_eps = options.number("layer_norm_eps", 1e-5)};
}

MechanismResult run_encoder_layer(const MechanismCall& call) {
  const auto layer = loaded(TransformerEncoderLayer(layer_options(call)), call);
  return {
      {{"output", layer(call.need("src"), masks_of(call, "src_key_padding_mask", "src_mask"))}},
      layer.named_parameters()};
}

MechanismResult run_decoder_layer(const MechanismCall& call) {
  const auto layer = loaded(TransformerDecoderLayer(layer_options(call)), call);
  const TransformerDecoderLayer::Masks masks{
      .tgt = masks_of(call, "tgt_key_padding_mask", "tgt_mask"),
      .memory = masks_of(call, "memory_key_padding_mask", "memory_mask")};
  return {{{"output", layer.forward(call.need("tgt"), call.need("memory"), masks)}},
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
