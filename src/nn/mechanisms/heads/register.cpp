// Attention as layers, as mechanisms.

#include <vector>

#include "attn/nn/attention/additive_score.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/heads/dot_product_attention.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/random.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "nn/mechanisms/families.hpp"
#include "nn/mechanisms/heads/register_torch.hpp"

namespace attn::nn {
namespace {

constexpr const char* kVaswani = "Vaswani et al., 2017, arXiv:1706.03762";

/// A layer of queries, keys and values on a case.
template <class M>
Made run_layer(const M& layer, const Given& given) {
  const Attended looked =
      layer.forward(given.need("queries"), given.need("keys"), given.need("values"),
                    adapt::keep_lengths(given), adapt::kBoth);
  return {{{"output", looked.output}, {"weights", looked.weights}}, layer.named_parameters()};
}

Mechanism additive_layer() {
  return {
      .name = "additive_attention",
      .family = "heads",
      .title = "Additive attention as a layer",
      .formula = "out = softmax(w_v . tanh(W_q q + W_k k)) v",
      .paper = "Bahdanau, Cho, Bengio, 2015, arXiv:1409.0473",
      .made_of = "score additive, mask lengths, normalise softmax, pool weighted sum",
      .options = "",
      .snippet = R"(nn::AdditiveAttention attention(
    {.query_dim = 20, .key_dim = 2, .hidden_dim = 8, .dropout = 0.1});
Tensor q = uniform({2, 1, 20}, -1, 1, nn::random());
Tensor k = uniform({2, 10, 2}, -1, 1, nn::random());
Attended looked = attention.forward(q, k, k, {}, Want::output | Want::weights);)",
      .header = "attn/nn/attention/additive_score.hpp",
      .run =
          [](const Given& given) {
            return run_layer(
                adapt::loaded(
                    AdditiveAttention({.query_dim = adapt::columns(given, "W_q.weight"),
                                       .key_dim = adapt::columns(given, "W_k.weight"),
                                       .hidden_dim = adapt::rows(given, "W_q.weight")}),
                    given),
                given);
          },
      .example =
          [](Random& random) {
            Given given = adapt::pooling_example(random, 3, 5);
            given.parameters["W_q.weight"] = adapt::real(random, {6, 3});
            given.parameters["W_k.weight"] = adapt::real(random, {6, 5});
            given.parameters["w_v.weight"] = adapt::real(random, {1, 6});
            return given;
          },
  };
}

Mechanism dot_product_layer() {
  return {
      .name = "dot_product_attention",
      .family = "heads",
      .title = "Scaled dot product attention as a layer",
      .formula = "out = softmax(q k^T / sqrt(d)) v",
      .paper = kVaswani,
      .made_of = "score scaled dot, mask lengths, normalise softmax, pool weighted sum",
      .options = "",
      .snippet = R"(nn::DotProductAttention attention({.dropout = 0.5});
Tensor q = uniform({2, 1, 2}, -1, 1, nn::random());
Tensor k = uniform({2, 10, 2}, -1, 1, nn::random());
Attended looked = attention.forward(q, k, k, {}, Want::output | Want::weights);)",
      .header = "attn/nn/mechanisms/heads/dot_product_attention.hpp",
      .run =
          [](const Given& given) {
            return run_layer(adapt::loaded(DotProductAttention(), given), given);
          },
      .example = [](Random& random) { return adapt::pooling_example(random, 4, 4); },
  };
}

Given multi_head_example(Random& random) {
  Given given = adapt::pooling_example(random, 4, 5);
  given.parameters["W_q.weight"] = adapt::real(random, {6, 4});
  given.parameters["W_k.weight"] = adapt::real(random, {6, 5});
  given.parameters["W_v.weight"] = adapt::real(random, {6, 3});
  given.parameters["W_o.weight"] = adapt::real(random, {6, 6});
  for (const char* name : {"W_q.bias", "W_k.bias", "W_v.bias", "W_o.bias"})
    given.parameters[name] = adapt::real(random, {6});
  given.options = {{"num_heads", 3.0}, {"bias", true}};
  return given;
}

Mechanism multi_head_layer() {
  return {
      .name = "multi_head_attention",
      .family = "heads",
      .title = "Multi-head attention: several attentions side by side",
      .formula =
          "head_a = softmax(W_q q (W_k k)^T / sqrt(n / H)) W_v v on share a of the "
          "features, out = W_o [head_0; head_1; ...]",
      .paper = kVaswani,
      .made_of =
          "score scaled dot in each head, mask lengths, normalise softmax, pool "
          "weighted sum, between linear layers",
      .options =
          "num_heads: attentions side by side\nbias: whether the projections add a "
          "learnt vector",
      .snippet = R"(nn::MultiHeadAttention attention(
    {.query_dim = 8, .key_dim = 6, .value_dim = 6, .hidden_dim = 12, .heads = 3});
Tensor q = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 5, 6}, -1, 1, nn::random());
Attended looked = attention.forward(q, k, k, {}, Want::output | Want::weights);)",
      .header = "attn/nn/attention/multi_head_attention.hpp",
      .run =
          [](const Given& given) {
            const bool bias = given.options.flag("bias", given.has_parameter("W_q.bias"));
            return run_layer(
                adapt::loaded(
                    MultiHeadAttention({.query_dim = adapt::columns(given, "W_q.weight"),
                                        .key_dim = adapt::columns(given, "W_k.weight"),
                                        .value_dim = adapt::columns(given, "W_v.weight"),
                                        .hidden_dim = adapt::rows(given, "W_q.weight"),
                                        .heads = given.options.whole("num_heads", 1),
                                        .bias = bias ? Bias::learnt : Bias::none}),
                    given),
                given);
          },
      .example = multi_head_example,
  };
}

}  // namespace

std::vector<Mechanism> heads_mechanisms() {
  return {additive_layer(),          dot_product_layer(),
          multi_head_layer(),        torch_multihead_mechanism(),
          encoder_layer_mechanism(), decoder_layer_mechanism()};
}

}  // namespace attn::nn
